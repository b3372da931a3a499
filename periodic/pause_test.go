package periodic

import (
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/bounds"
)

// A preview has none of the ticks that a pause skips.
func TestPreviewPassesAPause(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	hour := func(h int) time.Time { return time.Date(2026, 3, 1, h, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		pause Pause
		next  time.Time
		want  []time.Time
	}{
		"not paused":            {Pause{}, hour(13), []time.Time{hour(13), hour(14), hour(15), hour(16)}},
		"over":                  {Pause{Since: hour(10), Until: hour(12)}, hour(13), []time.Time{hour(13), hour(14), hour(15), hour(16)}},
		"until three":           {Pause{Since: hour(10), Until: hour(15)}, hour(13), []time.Time{hour(15), hour(16)}},
		"until it is resumed":   {Pause{Since: hour(10)}, hour(13), nil},
		"not planned":           {Pause{Since: hour(10), Until: hour(15)}, Unplanned, []time.Time{hour(15), hour(16)}},
		"to be run by hand":     {Pause{Since: hour(10), Until: hour(16)}, time.Time{}, []time.Time{now, hour(16)}},
		"by hand, no end of it": {Pause{Since: hour(10)}, time.Time{}, []time.Time{now}},
	} {
		one := Task{ID: "t", Enabled: true, Timer: "hourly", Due: c.next, NextRun: c.next, Pause: c.pause, Created: hour(1)}
		switch {
		case c.next.IsZero():
			one.NextRun = now
		case c.next.Equal(Unplanned):
			one.Due = time.Time{}
		}
		var got []time.Time
		for u := range Preview([]Task{one}, now, hour(17)) {
			got = append(got, u.Due)
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
			continue
		}
		for i := range got {
			if !got[i].Equal(c.want[i]) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
	}
}

// The reason of a skipped tick names who, since when, until when and why.
func TestPauseText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := Pause{Since: at}
	if got := p.Text(); got != "paused since 2026-03-01 12:00:00 UTC" {
		t.Error(got)
	}
	p.Until, p.By, p.Reason = at.Add(time.Hour), "ada@host", "moving"
	if got := p.Text(); got != "paused by ada@host since 2026-03-01 12:00:00 UTC until 2026-03-01 13:00:00 UTC: moving" {
		t.Error(got)
	}
}

// Ticks that no scheduler saw are skipped if they fell due during the pause, and else missed.
func TestTicksOfAPauseThatNoSchedulerSaw(t *testing.T) {
	t.Parallel()
	hour := func(h int) time.Time { return time.Date(2026, 3, 1, h, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		pause   Pause
		catchup Catchup
		want    string
	}{
		"not paused":              {Pause{}, CatchupOne, "1 missed 8; 9 submitted 0; "},
		"all the time":            {Pause{Since: hour(0)}, CatchupOne, "1 skipped 8; 9 skipped 0; "},
		"since three":             {Pause{Since: hour(3)}, CatchupOne, "1 missed 2; 3 skipped 6; 9 skipped 0; "},
		"it has ended":            {Pause{Since: hour(0), Until: hour(5)}, CatchupOne, "1 skipped 4; 5 missed 4; 9 submitted 0; "},
		"in between":              {Pause{Since: hour(3).Add(-time.Minute), Until: hour(6).Add(time.Minute)}, CatchupNone, "1 missed 2; 3 skipped 4; 7 missed 3; "},
		"in none, until the last": {Pause{Since: hour(0)}, CatchupNone, "1 skipped 9; "},
		"between two ticks":       {Pause{Since: hour(3).Add(time.Minute), Until: hour(4)}, CatchupNone, "1 missed 3; 4 missed 6; "},
	} {
		one := Task{ID: "t", Enabled: true, Timer: "hourly", Due: hour(1), NextRun: hour(1), Pause: c.pause, Catchup: c.catchup, Created: hour(0)}
		timer, err := calendar.Parse("hourly")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, k := range Decide(&one, timer, Facts{Now: hour(9).Add(30 * time.Minute)}, func(time.Time) string { return "j" }).Ticks {
			got += fmt.Sprintf("%d %s %d; ", k.Due.Hour(), k.Decision, k.Missed)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Of the ticks that are due when a pause after failures is over, one is let through; the others wait for its job, or
// until the delay is over again.
func TestProbeIsOneTick(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	hour := func(h int) time.Time { return time.Date(2026, 3, 1, h, 0, 0, 0, time.UTC) }
	one := Task{
		ID: "t", Enabled: true, Timer: "hourly", Created: hour(1), Due: hour(9), NextRun: hour(9), Sink: SinkJob, Overlap: OverlapAllow, Catchup: CatchupAll,
		Failures: Failures{PauseAfter: 3, ProbeDelay: 10 * time.Minute, Count: 5}, Pause: Pause{Since: hour(8), Until: hour(10), By: bounds.PausedAfterFailures},
	}
	timer, err := calendar.Parse(one.Timer)
	if err != nil {
		t.Fatal(err)
	}
	plan := Decide(&one, timer, Facts{Now: now}, func(time.Time) string { return "j" })
	got := ""
	for _, k := range plan.Ticks {
		got += fmt.Sprintf("%d %s; ", k.Due.Hour(), k.Decision)
	}
	if want := "9 skipped; 10 submitted; 11 skipped; 12 skipped; "; got != want || !plan.ProbeUntil.Equal(now.Add(40*time.Minute)) {
		t.Errorf("%swith others from %s on, want %s40 minutes later", got, plan.ProbeUntil, want)
	}
	for count, want := range map[int]time.Duration{3: 10 * time.Minute, 4: 20 * time.Minute, 12: 24 * time.Hour, 1_000_000: 24 * time.Hour} {
		f := Failures{PauseAfter: 3, ProbeDelay: 10 * time.Minute, Count: count}
		if got := f.delay(); got != want {
			t.Errorf("after %d failures the pause is %s, want %s", count, got, want)
		}
	}
}
