package verify

import (
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/periodic"
)

// audit compares recorded ticks of a task that is enabled with its timer, in the order of their due times: give it the
// ticks with add, and call end. The first one is where it starts, whatever that is: somebody may have set it by hand.
type audit struct {
	task  *periodic.Task
	timer calendar.Schedule
	next  time.Time // the elapse that has to be recorded next; zero: none any more
	begun bool

	Recorded   int              // ticks and ranges that were looked at
	Unrecorded []periodic.Range // elapses that no tick accounts for, at most MaxAuditFindings
	Strange    []time.Time      // recorded ticks that the timer does not have, at most as many
}

// maxAuditFindings bounds what an audit returns of each kind.
const maxAuditFindings = 10

// add looks at the next recorded tick, or range of missed ones. One beside the timer, which somebody gave the task, counts
// as one of the timer if it is.
func (a *audit) add(r recorded) {
	a.Recorded++
	switch {
	case r.Extra && !a.elapses(r.First):
		return
	case !a.begun:
		a.begun = true
		a.next = a.timer.Next(r.Last)
		return
	}
	a.unrecorded(r.First)
	switch {
	case a.next.Equal(r.First):
		a.next = a.timer.Next(r.Last)
	case a.elapses(r.First): // within a range of missed ticks, of which somebody has run this one since
	case len(a.Strange) < maxAuditFindings:
		a.Strange = append(a.Strange, r.First)
	}
}

func (a *audit) elapses(at time.Time) bool {
	return a.timer.Next(at.Add(-time.Microsecond)).Equal(at)
}

// unrecorded notes the elapses before a time that should have been recorded.
func (a *audit) unrecorded(before time.Time) {
	if a.next.IsZero() || !a.next.Before(before) {
		return
	}
	if len(a.Unrecorded) < maxAuditFindings {
		a.Unrecorded = append(a.Unrecorded, periodic.Range{First: a.next, Last: a.timer.Prev(before)})
	}
	a.next = a.timer.Next(before.Add(-time.Microsecond))
}

// end looks at the plan of the task, behind its last recorded tick. It reports whether
// the plan follows from the timer. A task that is not planned yet, whose next tick was
// set by hand, or that its problem blocks, has no such plan.
func (a *audit) end(now time.Time) (follows bool) {
	due := a.task.Due
	if due.IsZero() {
		return true
	}
	if !due.Before(periodic.Never) {
		warning := strings.HasPrefix(a.task.Problem, periodic.WarningPrefix)
		return a.task.Problem != "" && !warning || a.timer.Next(now).IsZero()
	}
	if a.begun {
		a.unrecorded(due)
	}
	return a.elapses(due)
}
