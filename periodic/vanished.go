package periodic

import (
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// longestShift is how far a change of a zone's rules moves a tick at most.
const longestShift = 3*time.Hour + time.Microsecond

// Behind reports whether some of the due ticks of a task, whose timer is given, may have been decided before, and since when: a
// backfill may have submitted them after an outage, somebody may have set nextrun back, or the planned tick has vanished.
func (t *Task) Behind(timer calendar.Schedule, now time.Time) (since time.Time, ok bool) {
	switch {
	case t.Unplanned() || t.NextRun.After(now):
		return since, false
	case t.Manual():
		return t.NextRun, true
	case t.vanished(timer, now):
		return t.Due.Add(-longestShift), true
	}
	next := timer.Next(t.Due)
	return t.Due, !next.IsZero() && !next.After(now)
}

// vanished reports whether the planned tick, which is due, is none of the timer's any more: its zone has other rules than when
// it was planned.
func (t *Task) vanished(timer calendar.Schedule, now time.Time) bool {
	newest := timer.Prev(now.Add(time.Microsecond)) // mostly the planned one
	return !newest.Equal(t.Due) && !timer.Next(t.Due.Add(-time.Microsecond)).Equal(t.Due)
}

// anew is the first tick that takes the place of a vanished one. It is later than all that were decided by the rules of before,
// so that no tick has two records.
func (d *decider) anew() time.Time {
	after := d.task.Due.Add(-longestShift)
	if since := d.task.Since; since.After(after) && since.Before(d.Now) {
		after = since
	}
	if n := len(d.Decided); n > 0 && d.Decided[n-1].Last.After(after) {
		after = d.Decided[n-1].Last
	}
	return d.timer.Next(after)
}
