package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/bounds"
	"github.com/nextrun/nextrun/internal/simulate"
	"github.com/nextrun/nextrun/periodic"
)

// paced makes a task with a random timer, pace and plan, which may be overdue.
func paced(r *rand.Rand, id string, now time.Time) periodic.Task {
	timers := []string{"*:0/5", "*:0/7; *:30", "0 */2 * * *", "*-*-* 02:00 Europe/Berlin", "*-*-* 02:30; *-*-* 14:00 Europe/Berlin", "every 11m", "every 45m; 0 * * * *", "Mon 09:00; *:15"}
	t := periodic.NewTask(id, "echo", timers[r.IntN(len(timers))])
	t.Overlap, t.Created, t.NextRun = periodic.OverlapAllow, now.Add(-time.Duration(r.Int64N(int64(48*time.Hour)))), periodic.Unplanned
	t.Catchup = []periodic.Catchup{periodic.CatchupOne, periodic.CatchupNone, periodic.CatchupAll, periodic.CatchupAll}[r.IntN(4)]
	seconds := func(n int) time.Duration { return time.Duration(r.IntN(n)) * time.Second }
	if r.IntN(2) == 0 {
		t.Pace.Spread = seconds(7200)
	}
	if r.IntN(3) == 0 {
		t.Jitter = seconds(900)
	}
	if r.IntN(2) == 0 {
		t.Pace.CatchupLimit = 1 + r.IntN(12)
	}
	if r.IntN(2) == 0 {
		t.Pace.CatchupDelay = 1*time.Second + seconds(1200)
	}
	if r.IntN(3) == 0 {
		t.Pace.MaxTicks, t.Pace.Count = 1+r.IntN(20), r.IntN(5)
	}
	if r.IntN(3) == 0 { // paused after failures: the next probe is to come, or due
		t.Failures = periodic.Failures{PauseAfter: 1 + r.IntN(3), ProbeDelay: 1*time.Second + seconds(3600), Count: 3 + r.IntN(3)}
		t.Pause = periodic.Pause{Since: now.Add(-seconds(86400)), Until: now.Add(seconds(28800) - 4*time.Hour), By: bounds.PausedAfterFailures}
	}
	switch r.IntN(4) {
	case 0: // set by hand
		t.NextRun = now.Add(seconds(7200) - time.Hour).Truncate(time.Second)
	case 1, 2: // planned, overdue or not
		coming, err := t.Upcoming(now.Add(seconds(7200)-12*time.Hour), 1)
		if err == nil && len(coming) > 0 {
			t.Due, t.NextRun = coming[0].Due, coming[0].NextRun
		}
	}
	return t
}

// What the preview promises is what the scheduler's decision does.
func TestPreviewIsWhatIsDecided(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	now := time.Date(2026, 3, 28, 12, 0, 30, 0, time.UTC)
	compared, ended := 0, 0
	for n := range 3000 {
		task := paced(r, fmt.Sprint("task-", n), now)
		until := now.Add(36 * time.Hour)
		var want []string
		for tick := range periodic.Preview([]periodic.Task{task}, now, until) {
			at := tick.NextRun
			if at.Before(now) {
				at = now
			}
			want = append(want, tick.Due.Format(time.DateTime)+" at "+at.Format("02 15:04:05.000000"))
		}
		var got []string
		_, err := simulate.Run(t.Context(), []periodic.Task{task}, simulate.Options{
			Span: simulate.Span{From: now, To: until},
			Tick: func(k periodic.Tick) {
				if k.Decision == periodic.Submitted {
					got = append(got, k.Due.Format(time.DateTime)+" at "+k.Decided.Format("02 15:04:05.000000"))
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		compared += len(got)
		if task.Pace.MaxTicks > 0 {
			ended++
		}
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("%+v\ntick %d of %d previewed and %d decided:\npreviewed %q\ndecided   %q", task, i, len(want), len(got), want[i:min(i+2, len(want))], got[i:min(i+2, len(got))])
			}
		}
	}
	if compared < 100_000 || ended < 500 {
		t.Errorf("%d ticks were compared, %d tasks with max_ticks", compared, ended)
	}
}
