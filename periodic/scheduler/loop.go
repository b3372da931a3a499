package scheduler

import (
	"context"
	"errors"
	"fmt"
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
	batches batch.Committer
	observe func(Event)
	wake    <-chan struct{}
	pulse   service.Pulse // safe for concurrent use

	agenda

	ahead     ahead
	late      late
	failing   failing
	sinks     sinks
	clock     clock
	watermark watermark
	ends      *ends // safe for concurrent use
	pace      pace
	progress  bool // a batch has moved a task
	trouble   trouble
}

// newLoop returns the loop of a scheduler.
func newLoop(store Store, cfg *Config, r role, worker string, wake <-chan struct{}) *loop {
	queues := store.Queues(cfg.Submitters)
	l := &loop{
		cfg: cfg, store: store, role: r, observe: cfg.observe, wake: wake,
		batches: batch.New(worker, r.update, store.Read, queues),
		failing: failing{},
		sinks:   sinks{known: slices.Sorted(maps.Keys(queues)), broken: map[periodic.Sink]*breaker{}},
		trouble: trouble{store: store, worker: worker},
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
	l.ahead.enable(l)
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
		l.role.judge(err)
		l.trouble.publish(hard, err, l.failing.text(l.isLock))
		_ = l.sleep(soft, wait) // the loop checks whether it has to end
	}
	l.ahead.drop()
	return nil
}

// begin notes that this scheduler schedules from now on.
func (l *loop) begin() {
	l.ownMarksUncleared, l.begun, l.batches.RunsSince = true, time.Now(), time.Time{}
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

// once schedules until nothing is due. It returns the first error.
func (l *loop) once(ctx context.Context) error {
	l.begin()
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
		case l.late.locked:
		case len(l.failing)+len(l.sinks.broken) > 0 && tries < maxTries:
			tries++
		default:
			l.ends.once(ctx)
			return nil
		}
		if err := l.sleep(ctx, min(leastRetry, l.next(leastRetry))); err != nil {
			return fmt.Errorf("some tasks are still due: %w", err)
		}
		l.pollNow()
	}
}

// maxTries is how often once retries what fails alone.
const maxTries = 4

func (l *loop) isLock(err error) bool { return l.store.Fault(err) == service.FaultLock }

// sleep waits for a time, a wake-up or the end of ctx, whose error it
// returns. It ends to the millisecond when a task is due, or the transaction of one that is planned ahead can begin.
func (l *loop) sleep(ctx context.Context, wait time.Duration) error {
	var due time.Time
	for _, at := range []time.Time{l.clock.byHost(l.ahead.openAt()), l.clock.byHost(l.ahead.decideAt)} {
		if left := time.Until(at) - timerSlack; !at.IsZero() && left <= wait {
			due, wait = at, left
		}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-l.wake:
		l.watermark.reset()
		l.pollNow()
	case <-timer.C:
		waitUntil(due)
	}
	return nil
}

// waitUntil waits for a time that is not far away.
func waitUntil(due time.Time) {
	if left := time.Until(due); left > timerSlack {
		<-time.After(left - timerSlack)
	}
	if left := time.Until(due); left > 0 {
		sleepPrecisely(left)
	}
	if left := time.Until(due); left > 0 { // interrupted by a signal
		<-time.After(left)
	}
}

// trouble publishes what keeps a scheduler from some or all of its work.
type trouble struct {
	store  Store
	worker string
	told   string // as published; empty: nothing
}

// publish publishes the error of a round, or else that of a task that fails, if it
// is another one than before. A database that cannot be used is asked for nothing.
func (t *trouble) publish(ctx context.Context, err error, failing string) {
	text := failing
	if err != nil {
		if t.store.Fault(err) == service.FaultDatabase {
			return
		}
		text = err.Error()
	}
	if text != t.told && t.store.SetTrouble(ctx, t.worker, text) == nil {
		t.told = text
	}
}
