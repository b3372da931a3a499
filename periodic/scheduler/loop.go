package scheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/leader"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/aside"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/search"
)

// lockedRetry is how soon due rows that somebody else has locked are tried
// again.
const lockedRetry = 250 * time.Millisecond

// clockSlack is the least time to sleep: clocks advance by no finer steps.
const clockSlack = time.Millisecond

// loop is what the scheduler's one goroutine owns. Work that may have to wait for
// somebody's lock is done beside it, by functions that return their findings.
type loop struct {
	cfg     *Config
	store   periodic.Store
	role    role
	batches batch.Committer
	search  search.Searcher
	observe func(Event)
	wake    <-chan struct{}
	pulse   service.Pulse // safe for concurrent use

	ahead    ahead
	beside   *beside
	aside    *aside.Aside
	queued   *queued
	delayed  delayed
	clock    clock
	done     done
	ends     *ends // safe for concurrent use
	slow     *slow
	failed   error // error of the work beside the loop
	progress bool  // a batch of this round moved a task
	trouble  aside.Trouble
	broke    bool // a sink broke, perhaps in another way than before
}

// newLoop returns the loop of a scheduler.
func newLoop(store periodic.Store, cfg *Config, r role, worker string, wake <-chan struct{}) *loop {
	queues := store.Queues(cfg.Submitters)
	l := &loop{
		cfg: cfg, store: store, role: r, observe: cfg.observe, wake: wake,
		batches: batch.New(worker, r.update, queues),
		beside:  &beside{found: make(chan search.Findings)},
		aside:   aside.New(slices.Sorted(maps.Keys(queues))),
	}
	l.batches.Hooks, l.batches.Tracer, l.batches.Late = cfg.Hooks, cfg.Tracer, l.delayed.why
	l.delayed = delayed{store: store, clock: &l.clock, observe: cfg.observe}
	l.ends = newEnds(store, cfg, r)
	l.trouble = aside.Trouble{Store: store, Worker: worker}
	l.search = search.Searcher{Commit: l.batches, Faults: store.Fault}
	l.queued = &queued{
		cfg: cfg, store: store, search: l.search, aside: l.aside, beside: l.beside, follower: follower{limit: followLimit},
	}
	l.slow = &slow{
		search: l.search, lanes: 1, tasks: &l.aside.Tasks, apart: l.aside.Apart, beside: l.beside,
		clock: &l.clock, delayed: &l.delayed, observe: cfg.observe,
	}
	return l
}

// run schedules until running ends, then finishes the batches in flight unless
// working ends too. If it ended by itself, it returns why.
func (l *loop) run(running, working context.Context) error {
	retry := service.Backoff{Least: l.cfg.RetryMin, Most: l.cfg.RetryMax}
	l.ahead.enable(l)
	begun := false
	for running.Err() == nil {
		if !l.role.schedules() {
			begun = false
			l.finish()
			l.pulse.Waits()
			if err := l.role.await(running); err != nil {
				if running.Err() == nil {
					return err
				}
				break
			}
			l.pulse.Beat(nil)
		}
		pause, err := idle{}, error(nil)
		if !begun {
			err = l.begin(working)
			begun = err == nil
		}
		if err == nil {
			pause, err = l.round(running, working)
		}
		if errors.Is(err, leader.ErrLost) {
			continue
		}
		wait := l.pause(pause)
		if err != nil {
			l.cfg.fail("schedule", err)
			l.delayed.failed(err)
			wait = retry.Next()
			l.ahead.drop()
		} else if l.beside.workers == 0 {
			retry.Reset()
		}
		if err != nil || l.beside.workers == 0 { // else the round may fail yet
			l.pulse.Beat(err)
			l.role.judge(err)
			l.trouble.Publish(working, err, l.aside.Tasks.Why())
		}
		asleep := time.Now()
		_ = l.sleep(running, wait) // the loop checks whether it has to end
		l.delayed.woke(asleep, wait)
	}
	l.finish()
	return nil
}

// once schedules until nothing is due. It returns the first error.
func (l *loop) once(ctx context.Context) error {
	if err := l.begin(ctx); err != nil {
		return err
	}
	defer l.finish()
	for tries := 0; ; {
		idle, err := l.round(ctx, ctx)
		if err != nil {
			return err
		}
		// Rows that others have locked, and what fails alone, are tried again a few
		// times.
		if l.beside.workers == 0 && l.aside.Waits() && tries < maxTries {
			tries++
			idle.locked = true
		}
		if l.beside.workers+l.beside.slow == 0 && !idle.locked {
			l.ends.once(ctx)
			return nil
		}
		if err := l.sleep(ctx, lockedRetry); err != nil {
			return fmt.Errorf("due tasks are locked by another transaction: %w", err)
		}
	}
}

// maxTries is how often once retries what fails alone.
const maxTries = 4

// begin clears stale marks.
func (l *loop) begin(ctx context.Context) error {
	if _, err := l.clearMarks(ctx, l.cfg.Name); err != nil {
		return err
	}
	crashpoint.At("scheduler/begun")
	l.queued.untended = true
	l.delayed.fresh = true
	return nil
}

// finish waits for the work beside the loop, and gives up what is prepared.
func (l *loop) finish() {
	for l.beside.workers+l.beside.slow > 0 {
		l.absorb(<-l.beside.found)
	}
	l.failed = nil
	l.ahead.drop()
	crashpoint.At("scheduler/stopped")
}

// pause is how long to sleep after a round.
func (l *loop) pause(i idle) time.Duration {
	wait := l.cfg.PollInterval
	sooner := func(d time.Duration) { wait = min(wait, max(d, clockSlack)) }
	if !i.peek.Next.IsZero() {
		sooner(l.clock.until(l.ahead.expect(i.peek.Next)))
	}
	if !i.peek.Marked.IsZero() {
		sooner(i.peek.Marked.Add(l.cfg.Lease + time.Millisecond).Sub(i.peek.Now))
	}
	if i.locked {
		sooner(lockedRetry)
	}
	if l.queued.follower.pause > 0 {
		sooner(time.Until(l.queued.follower.due))
	}
	if next := l.slow.next(); !next.IsZero() {
		sooner(time.Until(next))
	}
	if next := l.aside.Next(); !next.IsZero() && !l.beside.retrying {
		sooner(time.Until(next))
	}
	return wait
}

// sleep waits for a time, a wake-up, findings or the end of ctx, whose error it
// returns. It ends to the millisecond when a task is due, or the transaction of one that is prepared can begin.
func (l *loop) sleep(ctx context.Context, wait time.Duration) error {
	var due time.Time // by the host's clock
	if next := l.ahead.sleeps(); !next.IsZero() {
		until := l.clock.until(next)
		if until-timerSlack <= wait {
			due, wait = time.Now().Add(until), until-timerSlack
		}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case f := <-l.beside.found:
		l.absorb(f)
	case <-l.wake:
		l.done.forget()
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
