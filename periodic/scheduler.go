package periodic

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"sync"
)

// ErrStarted is returned by Start and RunOnce of a scheduler that runs or ran.
var ErrStarted = errors.New("the scheduler was started already; make a new one")

// Scheduler submits the jobs of periodic tasks. It is safe for concurrent use.
type Scheduler struct {
	role role
	loop *loop // of the goroutine that Start or RunOnce begins

	mu      sync.Mutex
	started bool
	stop    context.CancelFunc // asks the loop to end after the batches in flight
	kill    context.CancelFunc // ends these too
	done    chan struct{}
	wake    chan struct{}
	err     error // why the loop ended by itself; to be read after done
}

// New returns a scheduler over a store. It returns an error that names the
// field if the configuration is not valid. It does not touch the database.
func New(store Store, cfg Config) (*Scheduler, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	var boot [6]byte // tells processes of the same name apart
	_, _ = rand.Read(boot[:])
	holder := cfg.Name + "/" + hex.EncodeToString(boot[:])
	s := &Scheduler{role: shared{store}, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	if cfg.Mode != ModeShared {
		led, err := newLed(store, cfg, holder, cfg.observe, s.Wake)
		if err != nil {
			return nil, err
		}
		s.role = led
	}
	submitters := maps.Clone(store.Submitters())
	if submitters == nil {
		submitters = map[Sink]Submitter{}
	}
	maps.Copy(submitters, cfg.Submitters)
	s.loop = &loop{
		cfg: cfg, store: store, role: s.role, observe: cfg.observe, wake: s.wake,
		commit: committer{role: s.role, submitters: submitters, timers: &timers{}, faultOf: store.Fault},
		marks:  &marks{prefix: holder},
		beside: make(chan findings),
		aside:  newAside(),
	}
	return s, nil
}

// Join takes part in the modes leader and exclusive; Start does so if it was
// not done before. In mode exclusive it acquires the lock, or returns a
// [*leader.HeldError] or whatever else was in the way. In mode leader it begins
// to contend and returns at once. After Join call Stop, started or not.
func (s *Scheduler) Join(ctx context.Context) error { return s.role.join(ctx) }

// Start begins to schedule and returns at once: the loop tries again for as
// long as the database cannot be reached. It ends when ctx does, like Stop,
// or by Stop. It returns [ErrStarted] the second time. It joins if that was not
// done, and returns what Join does.
func (s *Scheduler) Start(ctx context.Context) error {
	if err := s.Join(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return ErrStarted
	}
	s.started = true
	running, stop := context.WithCancel(ctx)
	working, kill := context.WithCancel(context.WithoutCancel(ctx))
	s.stop, s.kill = stop, kill
	var watching sync.WaitGroup
	watching.Go(func() {
		s.role.watch(running, s.Wake, func(err error) { s.loop.fail("watch for changes", err) })
	})
	go func() {
		defer close(s.done)
		defer watching.Wait()
		defer kill()
		defer stop()
		s.err = s.loop.run(running, working)
		s.role.leave(working)
	}()
	return nil
}

// Stop finishes the batches in flight, removes the own marks, releases the lock
// if there is one, and waits for the goroutines. If ctx ends before that, the
// batches are given up (their marks expire) and ctx's error returned. A scheduler
// that was never started, or has been stopped, stops at once.
func (s *Scheduler) Stop(ctx context.Context) error {
	s.mu.Lock()
	if !s.started {
		s.started = true // it cannot be started any more
		close(s.done)
	}
	stop, kill := s.stop, s.kill
	s.mu.Unlock()
	if stop == nil {
		s.role.leave(ctx)
		return nil
	}
	stop()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		kill()
		<-s.done
		return fmt.Errorf("stop the scheduler: %w", ctx.Err())
	}
}

// Wake has the scheduler look at the database now. It never blocks.
func (s *Scheduler) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // a wake-up is waiting already
	}
}

// RunOnce clears stale marks, then schedules until nothing is due, and
// returns; for use from cron and in tests. Unlike the loop it returns the first
// error. In mode leader it does nothing while somebody else leads. It returns
// [ErrStarted] if Start was called.
func (s *Scheduler) RunOnce(ctx context.Context) error {
	s.mu.Lock()
	if s.started {
		s.mu.Unlock()
		return ErrStarted
	}
	s.mu.Unlock()
	if ok, err := s.role.joinOnce(ctx); !ok {
		return err
	}
	defer s.role.leave(ctx)
	return s.loop.once(ctx)
}

// Status reports whether this scheduler schedules, and who does otherwise.
func (s *Scheduler) Status() Status { return s.role.status() }

// Done is closed when a scheduler that was started has ended: by Stop, by the
// end of Start's ctx or, in mode exclusive, because somebody else has taken the
// lock.
func (s *Scheduler) Done() <-chan struct{} { return s.done }

// Err returns why the scheduler ended by itself: a [*leader.HeldError] if somebody
// else has taken the lock in mode exclusive. It is nil before Done, and after
// Stop.
func (s *Scheduler) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}
