package scheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/leader"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/aside"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/search"
)

// lockedRetry is how soon due rows that somebody else has locked are tried
// again.
const lockedRetry = 250 * time.Millisecond

// clockSlack is the least time to sleep: clocks advance by no finer steps.
const clockSlack = time.Millisecond

// loop is what the scheduler's one goroutine owns. Three things run beside it, and hand over what they find:
// batches in flight (submitter.results), searches that may have to wait for somebody's lock
// (background.found), and what asks for the ends of jobs (ends, with a goroutine and state of its own).
type loop struct {
	cfg     *Config
	store   taskdb.Store
	role    role
	batches batch.Committer
	search  search.Searcher
	observe func(Event)
	wake    <-chan struct{}
	pulse   service.Pulse // safe for concurrent use

	agenda

	prepared   prepared
	background *background
	aside      *aside.Aside
	queued     *queued
	delayed    delayed
	clock      clock
	watermark  watermark
	ends       *ends // safe for concurrent use
	pace       pace
	progress   bool // a batch has moved a task
	trouble    aside.Trouble
	broke      bool // a sink broke, perhaps in another way than before
}

// newLoop returns the loop of a scheduler.
func newLoop(store taskdb.Store, cfg *Config, r role, worker string, wake <-chan struct{}) *loop {
	queues := store.Queues(cfg.Submitters)
	l := &loop{
		cfg: cfg, store: store, role: r, observe: cfg.observe, wake: wake,
		batches:    batch.New(worker, r.update, queues),
		background: &background{found: make(chan search.Findings)},
		aside:      aside.New(slices.Sorted(maps.Keys(queues))),
	}
	l.batches.Hooks, l.batches.Tracer, l.batches.MissedBecause = cfg.Hooks, cfg.Tracer, l.delayed.missedBecause
	l.delayed = delayed{store: store, clock: &l.clock, observe: cfg.observe}
	l.ends = newEnds(store, cfg, r)
	l.trouble = aside.Trouble{Store: store, Worker: worker}
	l.search = search.Searcher{Commit: l.batches, Faults: store.Fault, Fed: store.Fed}
	l.queued = &queued{
		cfg: cfg, store: store, search: l.search, aside: l.aside, background: l.background, follower: follower{due: atOnce, limit: followLimit},
	}
	l.pace = pace{size: cfg.BatchSize, most: cfg.BatchSize, observe: cfg.observe, delayed: &l.delayed}
	l.duties = duties(l)
	return l
}

// run schedules until soft ends, then finishes the batches in flight unless
// hard ends too. If it ended by itself, it returns why.
func (l *loop) run(soft, hard context.Context) error {
	retry := service.Backoff{Least: l.cfg.RetryMin, Most: l.cfg.RetryMax}
	l.prepared.enable(l)
	l.ownMarksUncleared = true
	for soft.Err() == nil {
		if !l.role.schedules() {
			if err := l.standBy(soft); err != nil {
				return err
			}
			continue
		}
		l.background.receive(l.handleFindings)
		did, err := l.step(soft, hard)
		if errors.Is(err, leader.ErrLost) || did && err == nil {
			continue
		}
		wait := l.endRound(soft, err, &retry)
		if err != nil || l.background.workers == 0 { // else what runs in the background may fail yet
			l.pulse.Beat(err)
			l.role.judge(err)
			l.trouble.Publish(hard, err, l.aside.Tasks.Why())
		}
		asleep := time.Now()
		_ = l.sleep(soft, wait) // the loop checks whether it has to end
		l.delayed.woke(asleep, wait)
	}
	l.stopWork()
	return nil
}

// standBy waits until this scheduler may schedule, or soft ends. An error means that it never will.
func (l *loop) standBy(soft context.Context) error {
	l.ownMarksUncleared = true
	l.stopWork()
	l.pulse.Waits()
	err := l.role.await(soft)
	if err != nil && soft.Err() == nil {
		return err
	}
	l.pulse.Beat(nil)
	return nil
}

// endRound ends a round, which is what the loop does between two sleeps: no duty is due, or one has
// failed. It returns how long to sleep.
func (l *loop) endRound(soft context.Context, err error, retry *service.Backoff) time.Duration {
	if err != nil {
		l.cfg.fail("schedule", err)
		l.delayed.failed(err)
		l.prepared.drop()
		l.pollNow()
		return retry.Next()
	}
	if l.background.workers == 0 {
		retry.Reset()
	}
	l.delayed.reportLocked(soft, &l.waits, l.aside.Exclude())
	return l.next(l.cfg.PollInterval)
}

// once schedules until nothing is due. It returns the first error.
func (l *loop) once(ctx context.Context) error {
	defer l.stopWork()
	l.ownMarksUncleared = true
	for tries := 0; ; {
		l.background.receive(l.handleFindings)
		did, err := l.step(ctx, ctx)
		if err != nil {
			return err
		}
		if did {
			continue
		}
		l.delayed.reportLocked(ctx, &l.waits, l.aside.Exclude())
		// Rows that others have locked, and what fails alone, are tried again a few
		// times.
		waits := l.waits.locked || l.waits.replaces
		if l.background.workers == 0 && l.aside.Waits() && tries < maxTries {
			tries++
			waits = true
		}
		if l.background.workers == 0 && !waits {
			l.ends.once(ctx)
			return nil
		}
		if err := l.sleep(ctx, lockedRetry); err != nil {
			return fmt.Errorf("due tasks are locked by another transaction: %w", err)
		}
		l.pollNow()
	}
}

// maxTries is how often once retries what fails alone.
const maxTries = 4

// stopWork waits for the work in the background, and gives up what is prepared.
func (l *loop) stopWork() {
	for l.background.workers > 0 {
		l.handleFindings(<-l.background.found)
	}
	l.background.err = nil
	l.prepared.drop()
}

// sleep waits for a time, a wake-up, findings or the end of ctx, whose error it
// returns. It ends to the millisecond when a task is due, or the transaction of one that is prepared can begin.
func (l *loop) sleep(ctx context.Context, wait time.Duration) error {
	var due time.Time
	for _, at := range []time.Time{l.clock.byHost(l.prepared.openAt()), l.clock.byHost(l.prepared.unpreparedAt)} {
		if left := time.Until(at) - timerSlack; !at.IsZero() && left <= wait {
			due, wait = at, left
		}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case f := <-l.background.found:
		l.handleFindings(f)
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
