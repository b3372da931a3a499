package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
)

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
	ownMarks   bool      // the marks of this worker's name are to be cleared, since it begins to schedule
	staleMarks bool      // the last poll has seen a mark that has expired
	pollAt     time.Time // by the host's clock

	clock     clock
	watermark watermark
	ahead     ahead
	backlog   backlog
	pace      pace
	failing   failures[string]        // tasks that fail alone, by their ids
	broken    failures[periodic.Sink] // queues that cannot be used
	published string                  // the error that was published, of a round or a task; empty: none
	ends      *ends                   // safe for concurrent use
}

// newLoop returns the loop of a scheduler.
func newLoop(store Store, cfg *Config, r role, batches batch.Processor, wake <-chan struct{}) *loop {
	l := &loop{
		cfg: cfg, store: store, role: r, observe: cfg.observe, wake: wake, batches: batches,
		failing: failures[string]{}, broken: failures[periodic.Sink]{},
		backlog: backlog{pause: service.Backoff{Least: leastRetry, Most: mostRetry}},
		pace:    pace{size: cfg.BatchSize, most: cfg.BatchSize, observe: cfg.observe},
		ends:    newEnds(store, cfg, r),
	}
	l.batches.Hooks, l.batches.Tracer = cfg.Hooks, cfg.Tracer
	l.duties = duties(l)
	return l
}

// How soon a round that failed is tried again: the database cannot be used.
const leastOutage, mostOutage = 100 * time.Millisecond, 10 * time.Second

// run schedules until soft ends, then finishes the batches in flight unless
// hard ends too. If it ended by itself, it returns why.
func (l *loop) run(soft, hard context.Context) error {
	retry := service.Backoff{Least: leastOutage, Most: mostOutage}
	l.ahead.lead = max(l.cfg.Lead, 0)
	if l.store.OpensEarly() {
		l.batches.Sleep, l.ahead.openEarly = func(d time.Duration) { <-time.After(d) }, batch.MaxEarly
	}
	l.ownMarks = true
	l.pulse.Goes()
	for soft.Err() == nil {
		if !l.role.schedules() {
			if err := l.standBy(soft); err != nil {
				return err
			}
			continue
		}
		did, err := l.step(soft, hard)
		if errors.Is(err, leader.ErrLost) || did && err == nil || soft.Err() != nil && errors.Is(err, context.Canceled) {
			continue
		}
		wait := l.endRound(err, &retry)
		l.pulse.Beat(err)
		l.publishTrouble(soft, err)
		_ = l.sleep(soft, wait) // the loop checks whether it has to end
	}
	l.ahead.drop()
	return nil
}

// maxTries is how often once retries what fails alone.
const maxTries = 4

// once schedules until nothing is due. It returns the first error.
func (l *loop) once(ctx context.Context) error {
	l.ownMarks = true
	l.watermark.reset()
	for tries := 0; ; {
		did, err := l.step(ctx, ctx)
		if err != nil {
			return err
		}
		if did {
			continue
		}
		// What others have locked is tried again until it can be written, and what fails a few times.
		switch {
		case l.backlog.locked:
		case len(l.failing)+len(l.broken) > 0 && tries < maxTries:
			tries++
		default:
			l.ends.once(ctx)
			return nil
		}
		if err := l.sleep(ctx, min(leastRetry, l.next(leastRetry))); err != nil {
			return fmt.Errorf("some tasks are still due: %w", err)
		}
		l.pollWithin(0)
	}
}

// standBy waits until this scheduler may schedule, or soft ends. An error means that it never will.
func (l *loop) standBy(soft context.Context) error {
	l.ahead.drop()
	l.pulse.Beat(nil)
	l.pulse.Sleeps()
	err := l.role.await(soft)
	l.pulse.Goes()
	if err != nil && soft.Err() == nil {
		return err
	}
	l.ownMarks = true
	return nil
}

// endRound ends a round, which is what the loop does between two sleeps: no duty is due, or one has
// failed. It returns how long to sleep.
func (l *loop) endRound(err error, retry *service.Backoff) time.Duration {
	if err != nil {
		l.cfg.fail("schedule", err)
		l.ahead.drop()
		l.pollWithin(0)
		return retry.Next()
	}
	retry.Reset()
	return l.next(l.cfg.PollInterval)
}

// sleep waits for a time, a wake-up or the end of ctx, whose error it returns.
func (l *loop) sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	l.pulse.Sleeps()
	defer l.pulse.Goes()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-l.wake:
		l.watermark.reset()
		l.pollWithin(0)
	case <-timer.C:
	}
	return nil
}

// duty is one thing that the loop does. It names when it is due, by the host's clock; the zero
// time means: not until something has changed. soft ends when the scheduler is to stop: begin nothing new, read no more.
// hard ends when what is being written has to stop, too. A duty returns when to poll at the latest: at once if
// it has done something, or what is there to do may have changed.
type duty struct {
	due func() time.Time
	do  func(soft, hard context.Context) (pollIn time.Duration, err error)
}

// duties is what a loop does. Of those that are due, the first goes first: what has to be on
// time, then what the last poll has found, then the next poll, then what has failed.
func duties(l *loop) []duty {
	return []duty{
		{func() time.Time { return nowIf(l.ownMarks || l.staleMarks) }, l.clearMarks},
		{func() time.Time { return earlier(l.clock.byHost(l.ahead.openAt()), l.backlogAt()) }, l.submit},
		{func() time.Time { return l.clock.byHost(l.ahead.readAt) }, l.readAhead},
		{func() time.Time { return l.pollAt }, l.poll},
		{func() time.Time { return earlier(l.failing.next(), l.broken.next()) }, l.retry},
	}
}

func nowIf(isDue bool) time.Time {
	if isDue {
		return time.Now()
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

// pollWithin makes the loop poll after a while at the latest.
func (l *loop) pollWithin(wait time.Duration) { l.pollAt = earlier(l.pollAt, time.Now().Add(wait)) }

// step does the first duty that is due. It reports whether there was one.
func (l *loop) step(soft, hard context.Context) (bool, error) {
	for _, d := range l.duties {
		if isDue(d.due()) {
			pollIn, err := d.do(soft, hard)
			l.pulse.Goes()
			l.pollWithin(pollIn)
			return true, err
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
