package periodic

import (
	"testing"
	"time"
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
