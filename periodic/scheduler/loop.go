package scheduler

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
)

// clockSlack is the least time to sleep: clocks advance by no finer steps.
const clockSlack = time.Millisecond

// loop is what the scheduler's one goroutine owns. It goes one way with every task: read, decide, write if the
// row is as it was read. Two things run beside it: batches that are being written, which hand over their
// results (writer), and what asks for the ends of jobs (ends).
type loop struct {
	cfg     *Config
	store   Store
	role    role
	batches batch.Processor
	observe func(Event)
	wake    <-chan struct{}
	pulse   service.Pulse // safe for concurrent use

	duties     []duty
	ownMarks   bool      // the marks of this worker's name are to be cleared
	staleMarks bool      // the last poll has seen a mark that has expired
	pollAt     time.Time // by the host's clock

	ahead     ahead
	late      late
	failing   failing
	sinks     sinks
	clock     clock
	watermark watermark
	ends      *ends // safe for concurrent use
	pace      pace
	trouble   trouble
}

// newLoop returns the loop of a scheduler.
func newLoop(store Store, cfg *Config, r role, batches batch.Processor, wake <-chan struct{}) *loop {
	l := &loop{
		cfg: cfg, store: store, role: r, observe: cfg.observe, wake: wake, batches: batches,
		failing: failing{},
		sinks:   sinks{known: slices.Sorted(maps.Keys(batches.Queues)), broken: map[periodic.Sink]*breaker{}},
		trouble: trouble{store: store, worker: batches.Worker},
		pace:    pace{size: cfg.BatchSize, most: cfg.BatchSize, observe: cfg.observe},
	}
	l.batches.Hooks, l.batches.Tracer = cfg.Hooks, cfg.Tracer
	l.ends = newEnds(store, cfg, r)
	l.duties = duties(l)
	return l
}

// run schedules until soft ends, then finishes the batches in flight unless
// hard ends too. If it ended by itself, it returns why.
func (l *loop) run(soft, hard context.Context) error {
	retry := service.Backoff{Least: l.cfg.RetryMin, Most: l.cfg.RetryMax}
	l.ahead.lead = max(l.cfg.Lead, 0)
	if l.store.OpensEarly() {
		l.batches.Sleep, l.ahead.openEarly = func(d time.Duration) { <-time.After(d) }, batch.MaxEarly
	}
	l.begin()
	for soft.Err() == nil {
		if !l.role.schedules() {
			if err := l.standBy(soft); err != nil {
				return err
			}
			continue
		}
		did, err := l.step(soft, hard)
		if errors.Is(err, leader.ErrLost) || did && err == nil {
			continue
		}
		wait := l.endRound(err, &retry)
		l.pulse.Beat(err)
		l.trouble.publish(hard, err, l.failing.text(l.isLock))
		_ = l.sleep(soft, wait) // the loop checks whether it has to end
	}
	l.ahead.drop()
	return nil
}

// begin notes that this scheduler schedules from now on.
func (l *loop) begin() {
	l.ownMarks = true
}

// standBy waits until this scheduler may schedule, or soft ends. An error means that it never will.
func (l *loop) standBy(soft context.Context) error {
	l.ahead.drop()
	l.pulse.Waits()
	err := l.role.await(soft)
	if err != nil && soft.Err() == nil {
		return err
	}
	l.begin()
	l.pulse.Beat(nil)
	return nil
}

// endRound ends a round, which is what the loop does between two sleeps: no duty is due, or one has
// failed. It returns how long to sleep.
func (l *loop) endRound(err error, retry *service.Backoff) time.Duration {
	if err != nil {
		l.cfg.fail("schedule", err)
		l.ahead.drop()
		l.pollNow()
		return retry.Next()
	}
	retry.Reset()
	return l.next(l.cfg.PollInterval)
}

func (l *loop) isLock(err error) bool { return l.store.Fault(err) == service.FaultLock }

// sleep waits for a time, a wake-up or the end of ctx, whose error it returns.
func (l *loop) sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-l.wake:
		l.watermark.reset()
		l.pollNow()
	case <-timer.C:
	}
	return nil
}

// duty is one thing that the loop does. It names when it is due, by the host's clock; the zero
// time means: not until something has changed. soft ends when the scheduler is to stop: begin nothing new.
// hard ends when what is in flight has to stop, too.
type duty struct {
	due func() time.Time
	do  func(soft, hard context.Context) error
}

// duties is what a loop does. Of those that are due, the first goes first: what has to be on
// time, then what the last poll has found, then the next poll.
func duties(l *loop) []duty {
	return []duty{
		{func() time.Time { return dueIf(l.ownMarks || l.staleMarks) }, l.clearMarks},
		{func() time.Time { return l.clock.byHost(l.ahead.openAt()) }, l.submitDue},
		{func() time.Time { return l.clock.byHost(l.ahead.readAt) }, l.readAhead},
		{func() time.Time { return earlier(dueIf(l.late.found), l.clock.byHost(l.ahead.decideAt)) }, l.decideLate},
		{func() time.Time { return earlier(l.failing.next(), l.sinks.next()) }, l.retry},
		{func() time.Time { return l.pollAt }, l.poll},
	}
}

func dueIf(isDue bool) time.Time {
	if isDue {
		return atOnce
	}
	return time.Time{}
}

// earlier is the earlier of two times; zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// isDue reports whether a time has come.
func isDue(at time.Time) bool { return !at.IsZero() && !at.After(time.Now()) }

// atOnce is a time that has passed.
var atOnce = time.Unix(0, 0)

// pollNow has the loop poll at once: something was done, or has changed.
func (l *loop) pollNow() { l.pollAt = atOnce }

// pollWithin has the loop poll after a while at the latest.
func (l *loop) pollWithin(wait time.Duration) {
	if at := time.Now().Add(max(wait, clockSlack)); at.Before(l.pollAt) {
		l.pollAt = at
	}
}

// step does the first duty that is due. It reports whether there was one.
func (l *loop) step(soft, hard context.Context) (bool, error) {
	for _, d := range l.duties {
		if isDue(d.due()) {
			return true, d.do(soft, hard)
		}
	}
	return false, nil
}

// next is how long it takes until a duty is due, at most.
func (l *loop) next(most time.Duration) time.Duration {
	for _, d := range l.duties {
		if at := d.due(); !at.IsZero() {
			most = min(most, max(time.Until(at), clockSlack))
		}
	}
	return most
}
