package periodic

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// timeline are the ticks of a task: those of its timer between Starts and Ends.
type timeline struct {
	calendar.Schedule // the timer
	task              *Task
	zone              *time.Location // in which calendars are asked
}

func (t *Task) timeline(timer calendar.Schedule) timeline {
	return timeline{timer, t, calendar.Location(timer)}
}

// Exclusion says why calendars or people leave out a tick; empty: they do not.
func (l timeline) Exclusion(due time.Time) string {
	if skip := l.task.SkipAt(due); skip != nil {
		return cmp.Or(skip.Reason, "left out by hand")
	}
	if row := l.task.Days.Calendars.At(l.task.Days.Exclude, due.In(l.zone)); row != nil {
		return row.Text()
	}
	return ""
}

// Next is the earliest tick strictly after a time, zero if there is none.
func (l timeline) Next(after time.Time) time.Time {
	if starts := l.task.Starts; !starts.IsZero() && after.Before(starts) {
		after = starts.Add(-time.Microsecond)
	}
	return l.within(l.Schedule.Next(after))
}

// Prev is the latest tick strictly before a time, zero if there is none.
func (l timeline) Prev(before time.Time) time.Time {
	if ends := l.task.Ends; !ends.IsZero() && before.After(ends) {
		before = ends
	}
	return l.within(l.Schedule.Prev(before))
}

func (l timeline) within(tick time.Time) time.Time {
	ends := l.task.Ends
	if tick.IsZero() || tick.Before(l.task.Starts) || !ends.IsZero() && !tick.Before(ends) || !tick.Before(Never) {
		return time.Time{}
	}
	return tick.UTC()
}

// Warning is about calendars that do not exist, and about a timer that never elapses, in all of
// time. One that has elapsed for the last time has done what it was to do.
func (l timeline) Warning(planned bool) string {
	switch err := l.task.Days.Calendars.Check(l.task.Days.Exclude); {
	case err != nil:
		return WarningPrefix + err.Error()
	case planned, l.task.Timer == calendar.Never:
	case l.Schedule.Next(Unplanned).IsZero():
		return NeverElapses(l.task.Timer)
	case l.Next(Unplanned).IsZero():
		return fmt.Sprintf("%stimer %q never elapses between starts and ends", WarningPrefix, l.task.Timer)
	}
	return ""
}

// NeverElapses is the problem of a task whose timer never elapses.
func NeverElapses(timer string) string {
	return fmt.Sprintf("%stimer %q never elapses", WarningPrefix, timer)
}

// Delay is how much later than its due a tick is submitted because of Jitter: the same for all ticks of the
// task, and never up to the following tick.
func (l timeline) Delay(due time.Time) time.Duration {
	t := l.task
	if t.Jitter < time.Second {
		return 0
	}
	hash := sha256.Sum256([]byte(t.ID))
	share, _ := bits.Mul64(binary.BigEndian.Uint64(hash[:]), uint64(t.Jitter/time.Second))
	delay := time.Duration(share) * time.Second
	if gap := l.Next(due).Sub(due); gap > 0 && delay >= gap {
		delay %= gap
	}
	return delay
}

// NewestDue is the latest tick not before first that is due at a time. first is one that is.
func (l timeline) NewestDue(first, now time.Time) time.Time {
	newest := l.Prev(now.Add(time.Microsecond))
	if newest.After(first) && newest.Add(l.Delay(newest)).After(now) { // its delay has not passed yet, but its predecessor's has
		newest = l.Prev(newest)
	}
	if newest.Before(first) {
		return first
	}
	return newest
}

// OldestKept is the oldest of the ticks from first to last, which are due, that is submitted, or left out by a
// calendar. Those before it are missed; the zero time: all are. ended is when the job ended that they may have waited for: the
// grace counts from then.
func (l timeline) OldestKept(first, last, now, ended time.Time) time.Time {
	t, limit := l.task, 1
	if t.Catchup == CatchupAll {
		if limit = t.CatchupLimit; limit == 0 {
			return first
		}
	}
	kept, open := l.newestOpen(first, last)
	if !open {
		kept = last
	}
	from := kept.Add(l.Delay(kept))
	if from.Before(ended) {
		from = ended
	}
	if t.Catchup == CatchupNone && now.Sub(from) > t.Grace {
		return time.Time{}
	}
	for n := 1; n < limit; n++ {
		earlier, open := l.newestOpen(first, l.Prev(kept))
		if !open {
			break
		}
		kept = earlier
	}
	return kept
}

// newestOpen is the latest tick from first to last that calendars do not leave out.
func (l timeline) newestOpen(first, last time.Time) (open time.Time, found bool) {
	for tick, n := last, 0; n < MaxCounted && !tick.IsZero() && !tick.Before(first); n++ {
		if l.Exclusion(tick) == "" {
			return tick, true
		}
		tick = l.Prev(tick)
	}
	return open, false
}

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
	after := d.afterEdit(d.task.Due.Add(-longestShift))
	if n := len(d.Decided); n > 0 && d.Decided[n-1].Last.After(after) {
		after = d.Decided[n-1].Last
	}
	return d.timer.Next(after)
}
