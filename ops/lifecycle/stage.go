package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// Stage is a step of the start of a process, with its undo.
type Stage struct {
	// Name says in reports and errors which one it is.
	Name string
	// Up does the step and returns when it is done. nil: nothing to do.
	Up func(context.Context) error
	// Down undoes it and returns when that is done. If its context ends before, it
	// gives up what is in flight. nil: nothing to undo.
	Down func(context.Context) error
	// Health says what is wrong while the stage is up. It may be called at any time.
	// nil: nothing ever is.
	Health func(context.Context) error
	// Done is closed when what the stage has started has ended. If it ends before
	// Down, the process stops. nil: never.
	Done <-chan struct{}
	// Err says why it has ended by itself, after Done; nil: for no special reason.
	Err func() error

	watchdog bool   // Health needs no database: the watchdog asks it
	hurry    func() // called if Down should hurry; nil: nothing to do
}

// Service is what runs until it is stopped: a scheduler, an executor, a relay, or one
// of your own. It may have these methods, too:
//
//	Health(context.Context) error // says what is wrong while it runs
//	Err() error                   // why it has ended by itself, after Done
//	Hurry()                       // as an executor's: a Stop, under way or to come, should hurry
//
// Health returns soon, and asks nobody.
type Service interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	Done() <-chan struct{} // closed when it has ended, also by itself
}

var errEnded = errors.New("it has ended")

// stageOf is the stage of a service. The end of a start's context does not end it: it goes on until its turn to stop.
func stageOf(name string, s Service) Stage {
	one := Stage{Name: name, Down: s.Stop, Done: s.Done(), watchdog: true, Err: func() error { return nil },
		Up: func(ctx context.Context) error { return s.Start(context.WithoutCancel(ctx)) }}
	if e, ok := s.(interface{ Err() error }); ok {
		one.Err = e.Err
	}
	if h, ok := s.(interface{ Hurry() }); ok {
		one.hurry = h.Hurry
	}
	health, tells := s.(interface{ Health(context.Context) error })
	one.Health = func(ctx context.Context) error {
		select {
		case <-s.Done():
			if err := one.Err(); err != nil {
				return err
			}
			return errEnded
		default:
		}
		if tells {
			return health.Health(ctx)
		}
		return nil
	}
	return one
}

// StageError is the failure of a stage. [Process.Up], [Process.Start] and
// [Process.Stop] return it.
type StageError struct {
	Stage string
	Doing string // start or stop
	Err   error
}

// Error names the stage.
func (e *StageError) Error() string {
	return fmt.Sprintf("%s failed at %s: %v", e.Doing, e.Stage, e.Err)
}
func (e *StageError) Unwrap() error { return e.Err }

// stages are brought up one after the other and taken down in reverse order. It is safe for concurrent use,
// but for up and down at a time.
type stages struct {
	mu     sync.Mutex
	list   []Stage
	done   int           // that many are up
	failed *StageError   // why up failed; nil: it has not
	hurry  chan struct{} // closed: downs give up what is in flight; nil: never
}

func (s *stages) add(more ...Stage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, more...)
}

func (s *stages) snapshot() (list []Stage, done int, failed *StageError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list), s.done, s.failed
}

// up brings up all stages that are not yet. If one fails, or ctx ends, it takes
// those before it down, in reverse order, and returns a [*StageError]; what goes
// wrong with that is added. It calls begun with each stage that has come up.
func (s *stages) up(ctx context.Context, begun func(Stage)) error {
	for {
		list, done, _ := s.snapshot()
		if done == len(list) {
			return nil
		}
		err := ctx.Err()
		if err == nil && list[done].Up != nil {
			err = list[done].Up(ctx)
		}
		if err != nil {
			return s.giveUp(ctx, list[done].Name, err)
		}
		s.mu.Lock()
		s.done++
		s.mu.Unlock()
		begun(list[done])
	}
}

// giveUp notes that a stage has failed and takes down those that are up.
func (s *stages) giveUp(ctx context.Context, stage string, err error) error {
	failed := &StageError{stage, "start", err}
	s.mu.Lock()
	s.failed = failed
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return errors.Join(failed, s.down(ctx))
}

// down takes down the stages that are up, the last one first. A failure does not keep the others from it; all failures
// are returned. Done twice, it does nothing.
func (s *stages) down(ctx context.Context) error {
	var failures []error
	for {
		s.mu.Lock()
		if s.done == 0 {
			s.mu.Unlock()
			return errors.Join(failures...)
		}
		s.done--
		last := s.list[s.done]
		s.mu.Unlock()
		if last.Down == nil {
			continue
		}
		if err := s.downOne(ctx, last); err != nil {
			failures = append(failures, &StageError{last.Name, "stop", err})
		}
	}
}

// downOne takes a stage down. If there is a hurry, or when ctx ends, it gets a last moment.
func (s *stages) downOne(ctx context.Context, one Stage) error {
	going, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		left := lastMoment
		select {
		case <-going.Done():
			return
		case <-s.hurry:
			left = lastHurried
		case <-ctx.Done():
		}
		if one.hurry != nil {
			one.hurry()
		}
		select {
		case <-going.Done():
		case <-time.After(left):
			cancel()
		}
	}()
	return one.Down(going)
}

// stuck reports whether a service has stopped working, though it has not ended.
func (s *stages) stuck(ctx context.Context) bool {
	list, done, _ := s.snapshot()
	return slices.ContainsFunc(list[:done], func(one Stage) bool {
		return one.watchdog && errors.Is(one.Health(ctx), service.ErrStalled)
	})
}
