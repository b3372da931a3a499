// Package scheduler submits the jobs of periodic tasks when they are due, and records what
// became of each tick. Any number of schedulers may work on one database.
//
// One goroutine owns the loop, and goes one way with every task, whether it is on time, late, set by hand or to be caught up: it
// reads what is due or will be soon, without locks; decides, which is a pure function; and writes, at the due time, over the rows that
// are as they were read. loop.go has its duties; poll.go asks what there is to do; ahead.go reads, decides and keeps what falls
// due soon; submit.go writes what is due, and backlog.go reads what of that was not planned; split.go and failing.go do what
// follows when that fails. Package batch has the transactions. docs/internals/architecture.md, "The life of a tick", is the way
// through.
package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic/batch"
)

// Scheduler submits the jobs of periodic tasks. It is safe for concurrent use.
type Scheduler struct {
	life *service.Lifecycle
	role role
	loop *loop // of the goroutine of Start or RunOnce
	err  error // why the loop ended by itself; to be read after Done
}

// New returns a scheduler over a store. It returns an error that names the
// field if the configuration is not valid. It does not touch the database.
func New(store Store, cfg Config) (*Scheduler, error) {
	cfg = cfg.withDefaults()
	if err := errors.Join(cfg.Validate(), cfg.Retention.Validate()); err != nil {
		return nil, err
	}
	holder := service.WorkerID(cfg.Name)
	s := &Scheduler{life: service.New("scheduler"), role: shared{store, holder}}
	update := store.Update
	if cfg.Mode != ModeShared {
		led, err := newLed(store, cfg, holder, cfg.observe, s.Wake, s.works)
		if err != nil {
			return nil, err
		}
		s.role, update = led, led.update
	}
	s.loop = newLoop(store, &cfg, s.role, batch.New(holder, update, store.Read, store.Queues(cfg.Submitters)), s.life.Woken())
	return s, nil
}

// Join begins to contend for the lock in the modes leader and exclusive. Start calls
// it if you did not. In mode exclusive Join acquires the lock, or returns a
// [*leader.HeldError] or the error that prevented it. In mode leader it returns at
// once. After Join call Stop, even without Start.
func (s *Scheduler) Join(ctx context.Context) error { return s.role.join(ctx) }

// Start joins, begins to schedule and returns at once. While the database cannot be
// reached, the loop keeps trying. The scheduler ends by Stop, or as if by Stop when
// ctx ends. Start returns the errors of [Scheduler.Join]; a second Start returns an
// error that wraps [ErrStarted].
func (s *Scheduler) Start(ctx context.Context) error {
	if err := s.Join(ctx); err != nil {
		return err
	}
	main := func(soft, hard context.Context) {
		inFlight, end := service.Finishing(soft, hard, finishWithin)
		defer end()
		s.err = s.loop.run(soft, inFlight)
		s.role.leave(hard)
	}
	return s.life.Start(ctx, main, func(soft context.Context) {
		s.role.watch(soft, s.Wake, func(err error) { s.loop.cfg.fail("watch for changes", err) })
	}, s.loop.ends.run, newHousekeeping(s.loop.store, s.loop.cfg, s.role).run)
}

// finishWithin is how long batches in flight may take in a stop: others submit what is given up.
const finishWithin = 5 * time.Second

// Stop finishes the batches in flight, for which they have 5 s, releases the
// lock if there is one, and waits for the goroutines. If ctx ends before that, the
// batches are given up and ctx's error returned. A scheduler
// that was never started, or has been stopped, stops at once.
func (s *Scheduler) Stop(ctx context.Context) error {
	ran := s.life.Started()
	err := s.life.Stop(ctx)
	if !ran { // it may have joined
		s.role.leave(ctx)
	}
	return err
}

// Wake makes the scheduler query the database now. It never blocks.
func (s *Scheduler) Wake() { s.life.Wake() }

// RunOnce clears stale marks, then schedules until nothing is due, and
// returns; for use from cron and in tests. Unlike the loop it returns the first
// error. In mode leader it does nothing while somebody else leads. It returns
// [ErrStarted] if Start was called.
func (s *Scheduler) RunOnce(ctx context.Context) error {
	if s.life.Started() {
		return fmt.Errorf("run the scheduler once: %w", ErrStarted)
	}
	if ok, err := s.role.joinOnce(ctx); !ok {
		return err
	}
	defer s.role.leave(ctx)
	return s.loop.once(ctx)
}

// Status reports whether this scheduler schedules, and who does otherwise.
func (s *Scheduler) Status() Status { return s.role.status() }

// works reports whether the loop makes progress. No statement takes longer than two thirds of the lock's TTL, so a loop
// that stands still, for whatever cause, loses the lock at the next heartbeat after that, within the TTL.
func (s *Scheduler) works() bool {
	ttl := s.loop.cfg.Lock.TTL
	return s.loop.pulse.Advances(ttl*2/3, s.loop.cfg.PollInterval+ttl)
}

// Health says what is wrong with a scheduler that was started: that it has not done its
// first round, that rounds have failed for more than ten seconds, or that the loop is
// stuck. A scheduler that stands by is healthy. Health does not ask the database.
func (s *Scheduler) Health(context.Context) error {
	if status := s.role.status(); !status.Schedule && status.Lock.Name == "" {
		return errors.New("it has not seen the lock yet")
	}
	return s.loop.pulse.Health()
}

// Done is closed when a scheduler that was started has ended: by Stop, by the
// end of Start's ctx or, in mode exclusive, because somebody else has taken the
// lock.
func (s *Scheduler) Done() <-chan struct{} { return s.life.Done() }

// Err returns why the scheduler ended by itself: a [*leader.HeldError] if somebody
// else has taken the lock in mode exclusive. It is nil before Done, and after
// Stop.
func (s *Scheduler) Err() error {
	select {
	case <-s.life.Done():
		return s.err
	default:
		return nil
	}
}
