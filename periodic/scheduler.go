package periodic

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// ErrStarted is returned by Start and RunOnce of a scheduler that runs or ran.
var ErrStarted = errors.New("the scheduler was started already; make a new one")

// Scheduler submits the jobs of periodic tasks. It is safe for concurrent use.
type Scheduler struct {
	store      Store
	cfg        Config
	submitters map[Sink]Submitter
	boot       string // tells processes of the same name apart
	lead       *lead  // nil in mode shared

	mu      sync.Mutex
	started bool
	stop    context.CancelFunc // asks the loop to end after the batch in hand
	kill    context.CancelFunc // ends the batch in hand too
	done    chan struct{}
	wake    chan struct{}

	// The loop's own; no other goroutine touches them.
	batches  uint64
	progress bool // a batch of this round moved a task
	clock    clock
	stale    []string // marks of batches that failed
	timers   map[timerKey]parsedTimer

	superseded error // why the loop ended by itself; to be read after done
}

type timerKey struct {
	timer  string
	anchor time.Time // of intervals
}

type parsedTimer struct {
	schedule calendar.Schedule
	err      error
}

// New returns a scheduler over a store. It returns an error that names the
// field if the configuration is not valid. It does not touch the database.
func New(store Store, cfg Config) (*Scheduler, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	var boot [6]byte
	_, _ = rand.Read(boot[:]) // never fails
	s := &Scheduler{
		store:      store,
		cfg:        cfg,
		submitters: maps.Clone(store.Submitters()),
		boot:       hex.EncodeToString(boot[:]),
		done:       make(chan struct{}),
		wake:       make(chan struct{}, 1),
		timers:     map[timerKey]parsedTimer{},
	}
	maps.Copy(s.submitters, cfg.Submitters)
	if err := s.newLead(); err != nil {
		return nil, err
	}
	return s, nil
}

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
	watching.Go(func() { s.watch(running) })
	go func() {
		defer close(s.done)
		defer watching.Wait()
		defer kill()
		defer stop()
		s.loop(running, working)
		s.leave(working)
	}()
	return nil
}

// Stop finishes the batch in hand, removes the own marks, releases the lock if
// there is one, and waits for the goroutines. If ctx ends before that, the batch is given up (its marks expire)
// and ctx's error returned. A scheduler that was never started, or has been
// stopped, stops at once.
func (s *Scheduler) Stop(ctx context.Context) error {
	s.mu.Lock()
	if !s.started {
		s.started = true // it cannot be started any more
		close(s.done)
	}
	stop, kill := s.stop, s.kill
	s.mu.Unlock()
	if stop == nil {
		s.leave(ctx)
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

// maxLeft is how often RunOnce tries again to have rows that it has marked and
// somebody else has locked. Then their marks have to expire.
const maxLeft = 4

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
	if ok, err := s.joinOnce(ctx); !ok {
		return err
	}
	defer s.leave(ctx)
	if _, err := s.clear(ctx, s.cfg.Name); err != nil {
		return err
	}
	for left := 0; ; {
		idle, err := s.inTerm(ctx, func(leading context.Context) (idle, error) { return s.round(ctx, leading) })
		if err != nil {
			return errors.Join(err, s.unmarkStale(context.WithoutCancel(ctx)))
		}
		if len(s.stale) > 0 && left < maxLeft { // marked rows that somebody else has locked
			left++
			idle.locked = true
		}
		if !idle.locked {
			return nil
		}
		if err := s.sleep(ctx, lockedRetry); err != nil {
			return fmt.Errorf("due tasks are locked by another transaction: %w", err)
		}
	}
}

func (s *Scheduler) observe(e Event) {
	logEvent(s.cfg.Logger, e)
	if s.cfg.Observe != nil {
		s.cfg.Observe(e)
	}
}

func (s *Scheduler) fail(doing string, err error) {
	s.observe(Event{Kind: EventError, Doing: doing, Err: err})
}
