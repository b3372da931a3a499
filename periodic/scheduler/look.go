package scheduler

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/reasons"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
)

// look asks the database what there is to do.
func (l *loop) look(_, working context.Context) error {
	l.waits = waits{untold: true}
	peek, err := l.peek(working)
	if err != nil {
		return err
	}
	crashpoint.At("scheduler/peeked")
	l.pulse.Goes() // what follows may take long
	if l.aside.Tasks.Compare(peek.Versions) {
		l.done.forget()
		return nil // the look left out tasks that are no longer set aside; there is another one at once
	}
	if peek.Stray || l.broke {
		l.stray(working)
	}
	l.plan(peek)
	return nil
}

// plan sets the agenda by what a look has found.
func (l *loop) plan(peek taskdb.Peek) {
	if l.ahead.looked.Due.After(peek.Now.Add(l.ahead.lead)) || // the database's clock was set back
		l.ahead.calendars != peek.Calendars { // it was prepared by others
		l.ahead.drop()
		l.ahead.calendars = peek.Calendars
	}
	l.overdue, l.ready, l.queued.open = peek.Due, peek.Ready || l.queued.untended, peek.Open
	l.lookAt = time.Now().Add(l.cfg.PollInterval)
	if !peek.Next.IsZero() {
		l.sooner(l.clock.until(l.ahead.expect(peek.Next)))
	}
	if !peek.Marked.IsZero() {
		age := peek.Now.Sub(peek.Marked) // one that is as far in the future was left there by a clock that was set back
		if l.stale = age.Abs() > l.cfg.Lease; !l.stale {
			l.sooner(l.cfg.Lease - age + time.Millisecond)
		}
	}
}

// peek reads what there is to do, and compares the clocks.
func (l *loop) peek(ctx context.Context) (taskdb.Peek, error) {
	asked := time.Now()
	without := l.aside.Apart()
	without.Tell = l.ends.tell
	without.Since = l.done.since(asked, l.cfg.PollInterval)
	p, err := l.store.Peek(ctx, without)
	if err != nil && !without.Queued && l.search.Faults.Isolatable(err) {
		without.Queued = true
		cause := err
		if p, err = l.store.Peek(ctx, without); err == nil {
			l.queued.apart(cause)
		}
	}
	l.done.looked(&p, asked, without.Since, err)
	if err == nil {
		l.ends.peeked(p)
		answered := time.Now()
		if !p.Asked.IsZero() {
			asked, answered = p.Asked, p.Answered
		}
		l.clock.measure(asked, answered, p.Now)
		l.delayed.works(p.Now)
		if skew, report := l.clock.compare(asked, answered, p.Now); report {
			l.observe(Event{Kind: EventClock, Skew: skew})
		}
	}
	return p, err
}

// stray sets the problem of tasks that wait because this scheduler does not know
// their sink, or because that cannot be used, and that no other scheduler has taken.
func (l *loop) stray(ctx context.Context) {
	sinks := &l.aside.Sinks
	stray, err := l.store.Stray(ctx, sinks.Usable(), l.broke, func(sink periodic.Sink) string {
		if err := sinks.Broken(sink); err != nil {
			return reasons.Waits(err)
		}
		return batch.NoQueue(sink)
	})
	if err != nil {
		l.cfg.fail("look for tasks whose sink cannot be used", err)
		return
	}
	l.broke = false
	for _, t := range stray {
		if sinks.Broken(t.Sink) == nil { // else the sink is reported, once
			l.observe(Event{Kind: EventProblem, Task: &t, Problem: batch.NoQueue(t.Sink)})
		}
	}
}

// This scheduler marks no tasks: it locks them. Docspell and earlier releases of nextrun do, and
// their marks keep a task from this scheduler until they expire.

// clearMarks removes expired marks, and those of a worker name if one is given. It returns their
// number.
func (l *loop) clearMarks(ctx context.Context, name string) (count int, err error) {
	err = l.role.update(ctx, batch.Wait, func(tx taskdb.Tx) (err error) {
		count, err = tx.ClearMarks(ctx, l.cfg.Lease, name)
		return err
	})
	if err == nil && count > 0 {
		l.observe(Event{Kind: EventCleared, Count: count})
	}
	return count, err
}

// clearStale removes the expired marks that the last look has seen.
func (l *loop) clearStale(_, working context.Context) error {
	l.stale = false
	n, err := l.clearMarks(working, "")
	switch {
	case err != nil:
		return err
	case n > 0:
		l.again()
	default: // somebody else has locked the rows
		l.waits.locked = true
		l.sooner(lockedRetry)
	}
	return nil
}
