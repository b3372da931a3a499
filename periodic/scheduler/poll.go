package scheduler

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/reasons"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
)

// poll asks the database what there is to do.
func (l *loop) poll(_, hard context.Context) error {
	l.waits = waits{unreported: true}
	peek, err := l.readWork(hard)
	if err != nil {
		return err
	}
	l.pulse.Goes() // what follows may take long
	if l.aside.Tasks.Compare(peek.Versions) {
		l.watermark.reset()
		return nil // this poll left out tasks that are no longer set aside; the next one follows at once
	}
	if peek.Stray || l.broke {
		l.stray(hard)
	}
	l.setAgenda(peek)
	return nil
}

// setAgenda sets the agenda by what a poll has found.
func (l *loop) setAgenda(peek taskdb.Work) {
	if l.prepared.readUpTo.NextRun.After(peek.Now.Add(l.prepared.lead)) { // the database's clock was set back
		l.prepared.drop()
	}
	l.foundDue, l.ready, l.queued.open = peek.Due, peek.Ready || l.queued.untended, peek.Open
	l.pollAt = time.Now().Add(l.cfg.PollInterval)
	if !peek.Next.IsZero() {
		l.pollWithin(l.clock.until(l.prepared.planFor(peek.Next)))
	}
	if !peek.Marked.IsZero() {
		age := peek.Now.Sub(peek.Marked) // one that is as far in the future was left there by a clock that was set back
		if l.stale = age.Abs() > l.cfg.Lease; !l.stale {
			l.pollWithin(l.cfg.Lease - age + time.Millisecond)
		}
	}
}

// readWork reads what there is to do, and compares the clocks.
func (l *loop) readWork(ctx context.Context) (taskdb.Work, error) {
	asked := time.Now()
	exclude := l.aside.Exclude()
	exclude.Tell = l.ends.tell
	exclude.NextRunAfter = l.watermark.lowerBound(asked, l.cfg.PollInterval)
	p, err := l.store.Poll(ctx, exclude)
	if err != nil && !exclude.Queued && l.search.Faults.Isolatable(err) {
		exclude.Queued = true
		cause := err
		if p, err = l.store.Poll(ctx, exclude); err == nil {
			l.queued.setAside(cause)
		}
	}
	l.watermark.advance(&p, asked, exclude.NextRunAfter, err)
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
		return batch.UnknownSink(sink)
	})
	if err != nil {
		l.cfg.fail("look for tasks whose sink cannot be used", err)
		return
	}
	l.broke = false
	for _, t := range stray {
		if sinks.Broken(t.Sink) == nil { // else the sink is reported, once
			l.observe(Event{Kind: EventProblem, Task: &t, Problem: batch.UnknownSink(t.Sink)})
		}
	}
}

// This scheduler marks no tasks: it locks them. Docspell does, and its marks keep a task from this
// scheduler until they expire.

// clearMarks removes expired marks, and those of a worker name if one is given. It returns their
// number.
func (l *loop) clearMarks(ctx context.Context, name string) (count int, err error) {
	err = l.role.update(ctx, batch.LockTimeout, func(tx taskdb.Tx) (err error) {
		count, err = tx.ClearMarks(ctx, l.cfg.Lease, name)
		return err
	})
	if err == nil && count > 0 {
		l.observe(Event{Kind: EventCleared, Count: count})
	}
	return count, err
}

// clearStale removes the expired marks that the last poll has seen.
func (l *loop) clearStale(_, hard context.Context) error {
	l.stale = false
	n, err := l.clearMarks(hard, "")
	switch {
	case err != nil:
		return err
	case n > 0:
		l.pollNow()
	default: // somebody else has locked the rows
		l.waits.locked = true
		l.pollWithin(lockedRetry)
	}
	return nil
}

// watermark is up to when nothing of what fell due is left, as far as this scheduler was told. It saves
// reading the entries that an old snapshot, such as that of pg_dump, keeps in the index of due tasks.
type watermark struct {
	drainedUpTo time.Time // by the database's clock; zero: not known
	fullPollAt  time.Time // by the host's clock: when the scheduler has polled for all
}

// fullPollEvery is how often the scheduler polls for all that is due, at least: it may not have been told.
const fullPollEvery = 10 * time.Second

// lowerBound is [taskdb.Exclude.NextRunAfter] of a poll.
func (d *watermark) lowerBound(now time.Time, poll time.Duration) time.Time {
	if now.Sub(d.fullPollAt) >= min(fullPollEvery, poll) {
		return time.Time{}
	}
	return d.drainedUpTo
}

// advance notes what a poll has found that left out what fell due up to since.
func (d *watermark) advance(p *taskdb.Work, now, since time.Time, err error) {
	if since.IsZero() {
		d.fullPollAt = now
	}
	if d.drainedUpTo = p.Now; err != nil || p.Due || !p.Marked.IsZero() || p.Now.Before(since) {
		d.reset()
	}
}

// reset has the next poll find all: something was changed, or is left out no more.
func (d *watermark) reset() { d.drainedUpTo = time.Time{} }
