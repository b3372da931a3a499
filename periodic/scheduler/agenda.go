package scheduler

import (
	"context"
	"time"
)

// duty is one thing that the loop does. It names when it is due, by the host's clock; the zero
// time means: not until something has changed. soft ends when the scheduler is to stop: begin nothing new.
// hard ends when what is in flight has to stop, too.
type duty struct {
	due func() time.Time
	do  func(soft, hard context.Context) error
}

// duties is what a loop does. Of those that are due, the first goes first: what has to be on
// time, then what the last poll has found, then the next poll, then the rest.
func duties(l *loop) []duty {
	return []duty{
		{dueWhile(&l.ownMarksUncleared), l.clearOwnMarks},
		{func() time.Time { return l.clock.byHost(l.ahead.openAt()) }, l.submitDue},
		{func() time.Time { return l.clock.byHost(l.ahead.readAt) }, l.readAhead},
		{func() time.Time { return l.clock.byHost(l.ahead.decideAt) }, l.decideLate},
		{dueWhile(&l.late.found), l.decideLate},
		{dueWhile(&l.stale), l.clearStale},
		{func() time.Time { return l.failing.next() }, l.retryFailing},
		{func() time.Time { return l.sinks.next() }, l.retrySinks},
		{func() time.Time { return l.pollAt }, l.poll},
	}
}

// dueWhile is when to do a duty that waits for nothing but a fact.
func dueWhile(fact *bool) func() time.Time { return func() time.Time { return dueIf(*fact) } }

func dueIf(isDue bool) time.Time {
	if isDue {
		return atOnce
	}
	return time.Time{}
}

// isDue reports whether a time has come.
func isDue(at time.Time) bool { return !at.IsZero() && !at.After(time.Now()) }

// atOnce is a time that has passed.
var atOnce = time.Unix(0, 0)

// agenda is the list of duties, and what they leave for each other.
type agenda struct {
	duties            []duty
	begun             time.Time // by the host's clock: when this scheduler began to schedule
	ownMarksUncleared bool      // the marks of this worker's name are not cleared yet
	pollAt            time.Time // by the host's clock
	stale             bool      // the last poll has seen a mark that has expired
}

// pollNow has the loop poll at once: something was done, or has changed.
func (g *agenda) pollNow() { g.pollAt = atOnce }

// pollWithin has the loop poll after a while at the latest.
func (g *agenda) pollWithin(wait time.Duration) {
	if at := time.Now().Add(max(wait, clockSlack)); at.Before(g.pollAt) {
		g.pollAt = at
	}
}

// step does the first duty that is due. It reports whether there was one.
func (g *agenda) step(soft, hard context.Context) (bool, error) {
	for _, d := range g.duties {
		if isDue(d.due()) {
			return true, d.do(soft, hard)
		}
	}
	return false, nil
}

// next is how long it takes until a duty is due, at most.
func (g *agenda) next(most time.Duration) time.Duration {
	for _, d := range g.duties {
		if at := d.due(); !at.IsZero() {
			most = min(most, max(time.Until(at), clockSlack))
		}
	}
	return most
}

// clearOwnMarks clears the marks of this worker's name, which an earlier process may have left.
func (l *loop) clearOwnMarks(_, hard context.Context) error {
	if _, err := l.clearMarks(hard, l.cfg.Name); err != nil {
		return err
	}
	l.ownMarksUncleared = false
	l.pollNow()
	return nil
}
