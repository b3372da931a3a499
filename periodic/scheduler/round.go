package scheduler

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
)

// idle is why a round ended.
type idle struct {
	peek   periodic.Peek
	locked bool // due rows are left because somebody else has locked them
}

// round schedules batch after batch until nothing is due or running ends.
func (l *loop) round(running, working context.Context) (idle, error) {
	for {
		if err := l.beforePeek(running, working); err != nil {
			return idle{}, err
		}
		peek, err := l.peek(working)
		if err != nil {
			return idle{}, err
		}
		crashpoint.At("scheduler/peeked")
		l.pulse.Goes() // a round may have to submit for a long time
		if l.aside.Tasks.Compare(peek.Versions) {
			l.done.forget()
			continue // peek left out tasks that are no longer set aside
		}
		l.retryAside(running)
		l.slow.take(running)
		cleared, locked, err := l.clearStale(working, &peek)
		switch {
		case err != nil:
			return idle{}, err
		case cleared:
			continue
		}
		tended, err := l.waiting(working, peek)
		if err != nil {
			return idle{}, err
		}
		passedOver := (peek.Due || tended.Ready) && running.Err() == nil
		if passedOver {
			l.progress = false
			if err := l.drain(running, working); err != nil {
				return idle{}, err
			} else if l.progress {
				continue
			}
			locked = true
		}
		prepared, err := l.prepare(running, working, peek)
		if err != nil {
			return idle{}, err
		}
		if prepared || tended.More {
			continue
		}
		l.delayed.ends(running, locked, passedOver, l.aside.Apart())
		return idle{peek: peek, locked: locked || tended.Again}, nil
	}
}

// beforePeek does what cannot wait, or is known without asking: it submits what is due, and
// prepares the tasks that the last peek has seen coming.
func (l *loop) beforePeek(running, working context.Context) error {
	if err := l.submitDue(running, working); err != nil {
		return err
	}
	if due := l.ahead.backlog; !due.IsZero() && !due.After(l.clock.now()) {
		if err := l.drain(running, working); err != nil {
			return err
		}
	}
	l.absorbAll()
	if err := l.failed; err != nil {
		l.failed = nil
		return err
	}
	if l.ahead.wants(l.clock.now()) {
		_, err := l.lookAhead(running, working)
		return err
	}
	return nil
}

// prepare prepares the tasks that fall due soon, and reports whether there were any.
func (l *loop) prepare(running, working context.Context, peek periodic.Peek) (bool, error) {
	if l.ahead.looked.Due.After(peek.Now.Add(l.ahead.lead)) { // the database's clock was set back
		l.ahead.drop()
	}
	if l.ahead.calendars != peek.Calendars { // it was prepared by others
		l.ahead.drop()
		l.ahead.calendars = peek.Calendars
	}
	if !l.ahead.near(peek.Next, peek.Now) {
		return false, nil
	}
	return l.lookAhead(running, working)
}

// peek reads what there is to do, and compares the clocks.
func (l *loop) peek(ctx context.Context) (periodic.Peek, error) {
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

// waiting looks after what waits for something else than its time: a queue that the
// scheduler can use, or the end of a job.
func (l *loop) waiting(ctx context.Context, peek periodic.Peek) (periodic.Tended, error) {
	if peek.Stray || l.broke {
		l.stray(ctx)
	}
	if peek.Open {
		l.queued.follow(ctx)
	}
	if peek.Ready || l.queued.untended {
		return l.queued.tend(ctx)
	}
	return periodic.Tended{}, nil
}

// stray sets the problem of tasks that wait because this scheduler does not know
// their sink, or because that cannot be used, and that no other scheduler has taken.
func (l *loop) stray(ctx context.Context) {
	sinks := &l.aside.Sinks
	stray, err := l.store.Stray(ctx, sinks.Usable(), l.broke, func(sink periodic.Sink) string {
		if err := sinks.Broken(sink); err != nil {
			return periodic.Waits(err)
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
	err = l.role.update(ctx, batch.Wait, func(tx periodic.Tx) (err error) {
		count, err = tx.ClearMarks(ctx, l.cfg.Lease, name)
		return err
	})
	if err == nil && count > 0 {
		l.observe(Event{Kind: EventCleared, Count: count})
	}
	return count, err
}

// clearStale removes expired marks if there are any. It reports whether it did, or could not
// because somebody else has locked the rows.
func (l *loop) clearStale(ctx context.Context, peek *periodic.Peek) (cleared, locked bool, err error) {
	if age := peek.Now.Sub(peek.Marked); peek.Marked.IsZero() || -l.cfg.Lease <= age && age <= l.cfg.Lease {
		return false, false, nil // one that is as far in the future was left there by a clock that was set back
	}
	n, err := l.clearMarks(ctx, "")
	if err != nil || n > 0 {
		return n > 0, false, err
	}
	peek.Marked = peek.Now
	return false, true, nil
}
