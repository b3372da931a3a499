package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// poll asks the database what there is to do.
func (l *loop) poll(soft, _ context.Context) (pollIn time.Duration, err error) {
	l.pollAt = time.Time{}
	work, err := l.readWork(soft)
	if err != nil {
		return 0, err
	}
	l.pulse.Goes() // what follows may take long
	if work.Stray {
		l.stray(soft)
	}
	return l.plan(work), nil
}

// plan sets when the duties are due, by what a poll has found. It returns when to poll again.
func (l *loop) plan(work batch.Work) (pollIn time.Duration) {
	if l.ahead.readUpTo.NextRun.After(work.Now.Add(l.ahead.lead)) { // the database's clock was set back
		l.ahead.drop()
	}
	if l.backlog.found = work.Due; !work.Due {
		l.backlog.locked = false
		l.backlog.pause.Reset()
	}
	pollIn = l.cfg.PollInterval
	if !work.Next.IsZero() {
		pollIn = min(pollIn, max(l.clock.until(l.ahead.planFor(work.Next)), clockSlack))
	}
	if !work.Marked.IsZero() {
		age := work.Now.Sub(work.Marked) // one that is as far in the future was left there by a clock that was set back
		if l.staleMarks = age.Abs() > l.cfg.Lease; !l.staleMarks {
			pollIn = min(pollIn, l.cfg.Lease-age+time.Millisecond)
		}
	}
	return pollIn
}

// readWork reads what there is to do, and compares the clocks.
func (l *loop) readWork(ctx context.Context) (batch.Work, error) {
	asked := time.Now()
	look := batch.Look{Scope: l.scope(), StrayAfter: l.strayAfter(), Ask: l.asked(), DrainedUpTo: l.watermark.lowerBound(asked, l.cfg.PollInterval)}
	work, err := l.store.Poll(ctx, look)
	if err != nil && l.isolatable(err) { // perhaps somebody has locked the table job, or periodic_open
		broke, probed := l.suspectSink(ctx, err)
		if probed != nil {
			return work, probed
		}
		if broke {
			look.Scope, look.Ask = l.scope(), l.asked()
			work, err = l.store.Poll(ctx, look)
		}
	}
	l.watermark.advance(&work, asked, look.DrainedUpTo, err)
	if err != nil {
		return work, err
	}
	l.ends.looked(work)
	answered := time.Now()
	if !work.Asked.IsZero() {
		asked, answered = work.Asked, work.Answered
	}
	l.clock.measure(asked, answered, work.Now)
	return work, nil
}

// asked are the queues whose open jobs a poll looks at: those that can be used.
func (l *loop) asked() []periodic.Sink {
	return slices.DeleteFunc(slices.Clone(l.ends.sinks), func(sink periodic.Sink) bool { return l.broken[sink] != nil })
}

// strayAfter is how long a task has to be due before it counts as stray: another scheduler may know its sink, or it can be
// used again soon. Where one leads no other comes, so that what falls due before the next poll is said now.
func (l *loop) strayAfter() time.Duration {
	if l.cfg.Mode == ModeShared || len(l.broken) > 0 {
		return 10 * time.Second
	}
	return -l.cfg.PollInterval
}

// stray sets the problem of tasks that wait because this scheduler does not know their overlap or
// their sink, or because that cannot be used, and that no other scheduler has taken.
func (l *loop) stray(ctx context.Context) {
	stray, err := l.store.Stray(ctx, l.strayAfter(), l.usable(), func(t *periodic.Task) string {
		switch b := l.broken[t.Sink]; {
		case !t.Overlap.Known():
			return batch.UnknownOverlap(t.Overlap)
		case b != nil:
			return periodic.WaitsPrefix + b.err.Error()
		}
		return batch.UnknownSink(t.Sink)
	})
	if err != nil {
		l.cfg.fail("look for tasks that this scheduler cannot take", err)
		return
	}
	for _, t := range stray {
		if l.broken[t.Sink] == nil { // else the sink is reported, once
			l.observe(Event{Kind: EventProblem, Task: &t, Problem: t.Problem})
		}
	}
}

// This scheduler marks no tasks: it locks them. Docspell does, and its marks keep a task from this
// scheduler until they expire.

// clearMarks removes expired marks and, when this scheduler begins, those of its name, which an earlier process may have left.
func (l *loop) clearMarks(soft, _ context.Context) (pollIn time.Duration, err error) {
	name, count := "", 0
	if l.ownMarks {
		name = l.cfg.Name
	}
	err = l.batches.Update(soft, batch.LockTimeout, func(tx batch.Tx) (err error) {
		count, err = tx.ClearMarks(soft, l.cfg.Lease, name)
		return err
	})
	if err != nil {
		return 0, err
	}
	if count > 0 {
		l.observe(Event{Kind: EventCleared, Count: count})
	} else if !l.ownMarks { // somebody has locked the rows
		pollIn = leastRetry
	}
	l.ownMarks, l.staleMarks = false, false
	return pollIn, nil
}

// watermark is the time up to which no task is due any more, as far as this scheduler knows. It saves
// reading the entries that an old snapshot, such as that of pg_dump, keeps in the index of due tasks.
type watermark struct {
	drainedUpTo time.Time // by the database's clock; zero: not known
	fullPollAt  time.Time // by the host's clock: when the scheduler has polled for all
}

// fullPollEvery is how often the scheduler polls for all that is due, at least: notifications can be lost.
const fullPollEvery = 10 * time.Second

// lowerBound is [batch.Look.DrainedUpTo].
func (d *watermark) lowerBound(now time.Time, poll time.Duration) time.Time {
	if now.Sub(d.fullPollAt) >= min(fullPollEvery, poll) {
		return time.Time{}
	}
	return d.drainedUpTo
}

// advance notes what a poll has found that left out what fell due up to since.
func (d *watermark) advance(p *batch.Work, now, since time.Time, err error) {
	if since.IsZero() {
		d.fullPollAt = now
	}
	if d.drainedUpTo = p.Now; err != nil || p.Due || !p.Marked.IsZero() || p.Now.Before(since) {
		d.reset()
	}
}

// reset makes the next poll look at all: something was changed, or is left out no more.
func (d *watermark) reset() { d.drainedUpTo = time.Time{} }

// clockSlack is the least time to sleep: clocks advance by no finer steps.
const clockSlack = time.Millisecond

// clock knows the difference between the database's clock and the host's. The database's judges whether a task is due
// (guarantee G10).
type clock struct {
	database    time.Time     // what the database's clock said ...
	host        time.Time     // ... at this time by the host's
	uncertainty time.Duration // which is known as exactly as this
}

// clockMemory is for how long an exact measurement is better than a newer, coarser one.
const clockMemory = 10 * time.Second

// measure notes what the database's clock said between two times of the host's.
func (c *clock) measure(asked, answered, database time.Time) {
	way := answered.Sub(asked) / 2
	at := asked.Add(way)
	age := at.Sub(c.host)
	if !c.host.IsZero() && way > c.uncertainty && age < clockMemory && database.Sub(c.database.Add(age)).Abs() <= way+c.uncertainty {
		return
	}
	c.set(database, at)
	c.uncertainty = way
}

// set notes what the database's clock said.
func (c *clock) set(database, host time.Time) {
	c.database, c.host, c.uncertainty = database, host, clockSlack
}

// now is the time by the database's clock; zero if it was never read.
func (c *clock) now() time.Time {
	if c.host.IsZero() {
		return time.Time{}
	}
	return c.database.Add(time.Since(c.host))
}

// until is how far a time of the database's clock is away.
func (c *clock) until(at time.Time) time.Duration { return at.Sub(c.now()) }

// byHost is when the database's clock shows a time, by the host's; zero for zero.
func (c *clock) byHost(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return time.Now().Add(c.until(at))
}
