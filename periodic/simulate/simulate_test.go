package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/nextruntest"
	"github.com/nextrun/nextrun/periodic/simulate"
	"github.com/nextrun/nextrun/periodic/task"
)

// What is simulated is what the scheduler does, on a real database: for all policies, with
// outages, jobs of all lengths, deadlines, jitter and changes of the clock.
// NEXTRUN_SOAK_SIMULATE_SEEDS makes it longer.
func TestLikeTheScheduler(t *testing.T) {
	t.Parallel()
	seeds := uint64(2)
	if text := os.Getenv("NEXTRUN_SOAK_SIMULATE_SEEDS"); text != "" {
		var err error
		if seeds, err = strconv.ParseUint(text, 10, 32); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			compare(t, rand.New(rand.NewPCG(seed, 7)))
		})
	}
}

var (
	timers = []string{"*-*-* *:00/20", "hourly", "*-*-* *:10 Europe/Berlin", "every 35m", "*-*-* 02:30 Europe/Berlin", "*/7 * * * *"}
	takes  = []time.Duration{0, time.Minute, 20 * time.Minute, 25 * time.Minute, 3 * time.Hour}
)

func compare(t *testing.T, r *rand.Rand) {
	t.Helper()
	from := time.Date(2026, 3, 28, 18, 0, 0, 0, time.UTC) // clocks change in the night
	length := func(tk *task.Task, begins time.Time) time.Duration {
		return takes[(len(tk.Timer)+begins.Hour()/6)%len(takes)]
	}
	var tasks []task.Task
	for i := range 8 {
		tk := periodic.NewTask(fmt.Sprint("t", i), "x", timers[r.IntN(len(timers))])
		tk.Overlap = []task.Overlap{task.OverlapSkip, task.OverlapQueue, task.OverlapReplace, task.OverlapAllow}[r.IntN(4)]
		tk.Catchup = []task.Catchup{task.CatchupOne, task.CatchupNone, task.CatchupAll}[r.IntN(3)]
		tk.Grace = time.Duration(r.IntN(3)) * 15 * time.Minute
		if r.IntN(3) == 0 {
			deadline := time.Duration(10+r.IntN(60)) * time.Minute
			tk.Deadline = &deadline
		}
		tk.Jitter = time.Duration(r.IntN(3)) * 100 * time.Second
		tasks = append(tasks, tk)
	}
	out := simulate.Span{From: from.Add(5*time.Hour + 7*time.Minute), To: from.Add(9*time.Hour + time.Duration(r.IntN(60))*time.Minute)}
	to := from.Add(20 * time.Hour)
	got := simulated(t, tasks, simulate.Options{Span: simulate.Span{From: from, To: to}, Outages: []simulate.Span{out}, Takes: length})
	want := scheduled(t, tasks, from, out, to, length)
	if !slices.Equal(got, want) {
		t.Errorf("simulated, but not scheduled:\n%s\nscheduled, but not simulated:\n%s", without(got, want), without(want, got))
	}
}

// describe leaves out what differs by nature: ids of jobs.
func describe(k task.Tick) string {
	return fmt.Sprintf("%s %s %s %d %s", k.TaskID, k.Due.UTC().Format(time.DateTime), k.Decision, k.Missed, k.Decided.UTC().Format(time.DateTime))
}

func simulated(t *testing.T, tasks []task.Task, o simulate.Options) (lines []string) {
	t.Helper()
	last := map[task.TickKey]string{}
	o.Tick = func(k task.Tick) { last[k.Key()] = describe(k) }
	for i := range tasks {
		tasks[i].Created = o.From // as the table sets it
	}
	if _, err := simulate.Run(t.Context(), tasks, o); err != nil {
		t.Fatal(err)
	}
	for _, line := range last {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

func scheduled(t *testing.T, tasks []task.Task, from time.Time, out simulate.Span, to time.Time, takes func(*task.Task, time.Time) time.Duration) (lines []string) {
	t.Helper()
	var s *nextruntest.Schedule
	s = nextruntest.New(t, nextruntest.Options{Start: from, Takes: func(tk periodic.Task, _ time.Time) (time.Duration, jobqueue.State) {
		return takes(&tk, s.Now()), jobqueue.Success
	}})
	s.Add(tasks...)
	s.Advance(out.From.Add(-time.Microsecond).Sub(from))
	s.Outage(out.To.Sub(s.Now()))
	s.Advance(to.Add(-time.Microsecond).Sub(s.Now()))
	s.RequireGuarantees()
	for _, k := range s.Ticks("") {
		lines = append(lines, describe(k))
	}
	slices.Sort(lines)
	return lines
}

func without(a, b []string) (text string) {
	for _, line := range a {
		if !slices.Contains(b, line) {
			text += line + "\n"
		}
	}
	return text
}
