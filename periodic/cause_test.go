package periodic

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/days"
)

// Each tick that is not submitted at its time says why, as a code, in the order of the ticks.
func TestCauses(t *testing.T) {
	t.Parallel()
	const running = jobqueue.Running
	skip := func(k *Task) { k.Days.Skips = []days.LeftOut{{Due: noon}} }
	pause := func(k *Task) { k.Pause.Since = minute(-90) }
	limit := func(k *Task) { k.CatchupLimit = 2 }
	calendars := func(k *Task) {
		row := days.Row{Name: "c", First: noon.Truncate(24 * time.Hour), Last: noon.Truncate(24 * time.Hour)}
		k.Days.Exclude, k.Days.Calendars = "c", days.NewCalendars([]days.Row{row})
	}
	for name, c := range map[string]struct {
		situation
		want string
	}{
		"on time":               {situation{due: 0}, ""},
		"a job has not ended":   {situation{due: 0, pending: running}, "overlap"},
		"a person leaves it":    {situation{due: 0, change: skip}, "person"},
		"too late":              {situation{due: -10, deadline: time.Minute, starts: -10, ends: -1}, "deadline"},
		"an outage":             {situation{due: -60}, "newest "},
		"an outage, none":       {situation{due: -20, catchup: CatchupNone, ends: -1}, "grace"},
		"an outage, limited":    {situation{due: -60, catchup: CatchupAll, overlap: OverlapAllow, change: limit}, "limit  "},
		"it waited":             {situation{due: -10, overlap: OverlapQueue, ended: -1}, "waited "},
		"a later one":           {situation{due: -10, overlap: OverlapReplace, catchup: CatchupAll}, "superseded "},
		"paused":                {situation{due: 0, change: pause}, "paused"},
		"paused in an outage":   {situation{due: -20, change: pause}, "paused paused"},
		"a calendar":            {situation{due: 0, change: calendars}, "calendar"},
		"calendars and outages": {situation{due: -10, change: calendars}, "calendar calendar"},
		"set by hand":           {situation{due: -3, hand: true, starts: 5}, "by_hand"},
		"set by hand, and busy": {situation{due: -3, hand: true, starts: 5, pending: running}, "overlap"},
		"set to a timer's tick": {situation{due: -10, hand: true, overlap: OverlapAllow}, " "},
		"set, with one due":     {situation{due: -3, hand: true, overlap: OverlapAllow}, "by_hand "},
	} {
		p := c.decide(t)
		var got []string
		for _, k := range append(p.Settled, p.Ticks...) {
			got = append(got, string(k.Cause))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

func TestJitter(t *testing.T) {
	noon := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	delay := func(id, timer string, ends time.Time, greatest time.Duration) time.Duration {
		task := &Task{ID: id, Timer: timer, Ends: ends, Jitter: greatest}
		line, err := task.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		first := line.(timeline).Delay(noon)
		if again := line.(timeline).Delay(noon.Add(24 * time.Hour)); again != first && ends.IsZero() {
			t.Fatalf("the delay of %s is %s, and %s a day later", id, first, again)
		}
		return first
	}
	var sum time.Duration
	seen := map[time.Duration]bool{}
	const n = 2000
	for i := range n {
		id := fmt.Sprintf("task-%d", i)
		d := delay(id, "12:00", time.Time{}, time.Hour)
		if d < 0 || d >= time.Hour {
			t.Fatalf("the delay of %s is %s, not within an hour", id, d)
		}
		if capped := delay(id, "*:*", time.Time{}, time.Hour); capped != d%time.Minute {
			t.Fatalf("the delay of %s is %s; each minute it is %s", id, d, capped)
		}
		if last := delay(id, "12:00", noon.Add(time.Second), time.Hour); last != d {
			t.Fatalf("the delay of %s is %s; of a last tick %s", id, d, last)
		}
		sum += d
		seen[d/(6*time.Minute)] = true
	}
	if mean := sum / n; mean < 27*time.Minute || mean > 33*time.Minute || len(seen) != 10 {
		t.Errorf("the delays are not spread: mean %s, %d of 10 parts hit", mean, len(seen))
	}
	if delay("task", "12:00", time.Time{}, 0) != 0 {
		t.Error("a delay without a jitter")
	}
}
