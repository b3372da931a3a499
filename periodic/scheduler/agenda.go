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
		{func() time.Time { return l.clock.byHost(l.prepared.openAt()) }, l.submitDue},
		{func() time.Time { return l.clock.byHost(l.prepared.unpreparedAt) }, l.drainUnprepared},
		{func() time.Time { return dueIf(l.background.err != nil) }, l.background.takeError},
		{func() time.Time { return l.clock.byHost(l.prepared.prepareAt) }, l.prepareSoon},
		{dueWhile(&l.stale), l.clearStale},
		{dueWhile(&l.ready), l.tend},
		{dueWhile(&l.foundDue), l.drainFound},
		{func() time.Time { return l.pollAt }, l.poll},
		{func() time.Time { return l.background.nextRetry(l.aside) }, l.retryAside},
		{l.queued.next, l.follow},
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

// atOnce is a time that has passed.
var atOnce = time.Unix(0, 0)

// agenda is the list of duties, and what they leave for each other.
type agenda struct {
	duties            []duty
	ownMarksUncleared bool      // the marks of this worker's name are not cleared yet
	pollAt            time.Time // by the host's clock
	foundDue          bool      // the last poll has seen due tasks, or queued ticks can go on
	ready             bool      // it has seen queued ticks that may have to be tended
	stale             bool      // it has seen a mark that has expired
	waits             waits
}

// waits is what keeps due tasks waiting, since the last poll.
type waits struct {
	unreported bool
	locked     bool // somebody else has locked due rows, or expired marks
	passedOver bool // claims have moved none of the due tasks
	replaces   bool // a job that is to be replaced is locked
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
	now := time.Now()
	for _, d := range g.duties {
		if at := d.due(); !at.IsZero() && !at.After(now) {
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
	l.ownMarksUncleared, l.queued.untended, l.delayed.fresh = false, true, true
	l.pollNow()
	return nil
}

// drainUnprepared submits what a poll has seen coming and could not be prepared.
func (l *loop) drainUnprepared(soft, hard context.Context) error {
	l.prepared.unpreparedAt = time.Time{}
	l.pollNow()
	return l.drain(soft, hard)
}

// drainFound submits what a poll has found due.
func (l *loop) drainFound(soft, hard context.Context) error {
	l.foundDue, l.progress = false, false
	if err := l.drain(soft, hard); err != nil {
		return err
	}
	if l.progress {
		l.pollNow()
		return nil
	}
	l.waits.locked, l.waits.passedOver = true, true
	l.pollWithin(lockedRetry)
	return nil
}

// tend looks after queued ticks whose wait may be over.
func (l *loop) tend(_, hard context.Context) error {
	l.ready = false
	tended, err := l.queued.tend(hard)
	if err != nil {
		return err
	}
	l.foundDue = l.foundDue || tended.Ready
	if tended.More {
		l.pollNow()
	}
	if l.waits.replaces = tended.Again; tended.Again {
		l.pollWithin(lockedRetry)
	}
	return nil
}

// follow looks at open jobs of queues that do not tell when they end.
func (l *loop) follow(_, hard context.Context) error {
	l.queued.follow(hard)
	l.pollNow()
	return nil
}
