package scheduler

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
)

// duty is one thing that the loop does. It names when it is due, by the host's clock; the zero
// time means: not until something has changed.
type duty struct {
	due func() time.Time
	do  func(running, working context.Context) error
}

// duties is what a loop does. Of those that are due, the first goes first: what has to be on
// time, then what the last look has found, then the next look, then the rest.
func duties(l *loop) []duty {
	return []duty{
		{when(&l.starts), l.begin},
		{func() time.Time { return l.clock.byHost(l.ahead.begins()) }, l.submitDue},
		{func() time.Time { return l.clock.byHost(l.ahead.backlog) }, l.drainExpected},
		{func() time.Time { return now(l.beside.failed != nil) }, l.beside.fail},
		{func() time.Time { return l.clock.byHost(l.ahead.wake) }, l.lookAhead},
		{when(&l.stale), l.clearStale},
		{when(&l.ready), l.tend},
		{when(&l.overdue), l.drainFound},
		{func() time.Time { return l.lookAt }, l.look},
		{func() time.Time { return l.beside.retries(l.aside) }, l.retryAside},
		{l.slow.next, l.slow.take},
		{l.queued.next, l.follow},
	}
}

// when is when to do a duty that waits for nothing but a fact.
func when(fact *bool) func() time.Time { return func() time.Time { return now(*fact) } }

func now(isDue bool) time.Time {
	if isDue {
		return atOnce
	}
	return time.Time{}
}

// atOnce is a time that has passed.
var atOnce = time.Unix(0, 0)

// agenda is the list of duties, and what they leave for each other.
type agenda struct {
	duties  []duty
	starts  bool      // the marks of this worker's name are not cleared yet
	lookAt  time.Time // by the host's clock
	overdue bool      // the last look has seen due tasks, or queued ticks can go on
	ready   bool      // it has seen queued ticks that may have to be tended
	stale   bool      // it has seen a mark that has expired
	waits   waits
}

// waits is what keeps due tasks waiting, since the last look.
type waits struct {
	untold     bool
	locked     bool // somebody else has locked due rows, or expired marks
	passedOver bool // claims have moved none of the due tasks
	replaces   bool // a job that is to be replaced is locked
}

// again has the loop look at once: something was done, or has changed.
func (g *agenda) again() { g.lookAt = atOnce }

// sooner has the loop look after a while at the latest.
func (g *agenda) sooner(wait time.Duration) {
	if at := time.Now().Add(max(wait, clockSlack)); at.Before(g.lookAt) {
		g.lookAt = at
	}
}

// step does the first duty that is due. It reports whether there was one.
func (g *agenda) step(running, working context.Context) (bool, error) {
	now := time.Now()
	for _, d := range g.duties {
		if at := d.due(); !at.IsZero() && !at.After(now) {
			return true, d.do(running, working)
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

// begin clears the marks of this worker's name, which an earlier process may have left.
func (l *loop) begin(_, working context.Context) error {
	if _, err := l.clearMarks(working, l.cfg.Name); err != nil {
		return err
	}
	crashpoint.At("scheduler/begun")
	l.starts, l.queued.untended, l.delayed.fresh = false, true, true
	l.again()
	return nil
}

// drainExpected submits what a look has seen coming and could not be prepared.
func (l *loop) drainExpected(running, working context.Context) error {
	l.ahead.backlog = time.Time{}
	l.again()
	return l.drain(running, working)
}

// drainFound submits what a look has found due.
func (l *loop) drainFound(running, working context.Context) error {
	l.overdue, l.progress = false, false
	if err := l.drain(running, working); err != nil {
		return err
	}
	if l.progress {
		l.again()
		return nil
	}
	l.waits.locked, l.waits.passedOver = true, true
	l.sooner(lockedRetry)
	return nil
}

// tend looks after queued ticks whose wait may be over.
func (l *loop) tend(_, working context.Context) error {
	l.ready = false
	tended, err := l.queued.tend(working)
	if err != nil {
		return err
	}
	l.overdue = l.overdue || tended.Ready
	if tended.More {
		l.again()
	}
	if l.waits.replaces = tended.Again; tended.Again {
		l.sooner(lockedRetry)
	}
	return nil
}

// follow looks at open jobs of queues that do not tell when they end.
func (l *loop) follow(_, working context.Context) error {
	l.queued.follow(working)
	l.again()
	return nil
}
