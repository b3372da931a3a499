package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"
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

	service  Service             // that it starts; nil: it is another step
	question *singleflight.Group // about its health, of a stage that was added
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
	one := Stage{Name: name, Down: s.Stop, service: s, Up: func(ctx context.Context) error { return s.Start(context.WithoutCancel(ctx)) }}
	health, tells := s.(interface{ Health(context.Context) error })
	one.Health = func(ctx context.Context) error {
		select {
		case <-s.Done():
			if err := one.err(); err != nil {
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

// err says why the service of the stage has ended by itself.
func (one *Stage) err() error {
	if s, ok := one.service.(interface{ Err() error }); ok {
		return s.Err()
	}
	return nil
}

const (
	lastMoment  = time.Second     // for each stage that is left when the time to stop has run out
	lastHurried = 5 * time.Second // the same in a hurry, to give jobs back
)

// stop takes the stage down. If there is a hurry, or when ctx ends, it gets a last moment.
func (one *Stage) stop(ctx context.Context, hurried <-chan struct{}) error {
	if one.Down == nil {
		return nil
	}
	going, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		left := lastMoment
		select {
		case <-going.Done():
			return
		case <-hurried:
			left = lastHurried
		case <-ctx.Done():
		}
		if s, ok := one.service.(interface{ Hurry() }); ok {
			s.Hurry()
		}
		select {
		case <-going.Done():
		case <-time.After(left):
			cancel()
		}
	}()
	return one.Down(going)
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
