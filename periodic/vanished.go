package periodic

import (
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// LongestShift is how far a change of a zone's rules moves a tick at most.
const LongestShift = 3 * time.Hour

// Vanished reports whether the planned tick, which is due, is none of the timer's any more: its zone has other rules than when
// it was planned.
func (t *Task) Vanished(timer calendar.Schedule, now time.Time) bool {
	newest := timer.Prev(now.Add(time.Microsecond)) // mostly the planned one
	return !newest.Equal(t.Due) && !timer.Next(t.Due.Add(-time.Microsecond)).Equal(t.Due)
}

// anew is the first tick that takes the place of a vanished one. It is later than all that were decided by the rules of before,
// so that no tick has two records.
func (d *decider) anew() time.Time {
	after := d.task.Due.Add(-LongestShift - time.Microsecond)
	if since := d.task.Since; since.After(after) && since.Before(d.Now) {
		after = since
	}
	if n := len(d.Decided); n > 0 && d.Decided[n-1].Last.After(after) {
		after = d.Decided[n-1].Last
	}
	return d.timer.Next(after)
}
