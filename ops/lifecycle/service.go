package lifecycle

import (
	"context"
	"errors"

	"github.com/nextrun/nextrun/internal/service"
)

// Service is what runs until it is stopped: a scheduler, an executor, a relay, or one
// of your own. It may have these methods, too:
//
//	Health(context.Context) error // says what is wrong while it runs
//	Err() error                   // why it has ended by itself, after Done
//	Join(context.Context) error   // as a scheduler's: contends for the lock before Start
//	Hurry()                       // as an executor's: a Stop, under way or to come, should hurry
//
// Health returns soon, and asks nobody.
type Service interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	Done() <-chan struct{} // closed when it has ended, also by itself
}

// lockStageName is the name of the stage in which a scheduler contends for the lock.
const lockStageName = "lock"

// AddService adds the stage of a service, after one for the lock if it is a scheduler.
// The end of a start's context does not end it: it goes on until its turn to stop.
func (p *Process) AddService(name string, s Service, needs ...string) error {
	own := Stage{
		Name: name, Needs: needs, Down: s.Stop, Done: s.Done(), watchdog: true,
		Up: func(ctx context.Context) error { return s.Start(context.WithoutCancel(ctx)) },
	}
	own.Health = func(ctx context.Context) error {
		select {
		case <-s.Done():
			return errEnded
		default:
		}
		if h, ok := s.(interface{ Health(context.Context) error }); ok {
			return h.Health(ctx)
		}
		return nil
	}
	if e, ok := s.(interface{ Err() error }); ok {
		own.Err = e.Err
	}
	if h, ok := s.(interface{ Hurry() }); ok {
		own.hurry = h.Hurry
	}
	if j, ok := s.(interface{ Join(context.Context) error }); ok {
		own.Needs, own.feeds = []string{lockStageName}, true
		lock := Stage{
			Name: lockStageName, Needs: needs, Down: s.Stop,
			Up: func(ctx context.Context) error { return j.Join(context.WithoutCancel(ctx)) },
		}
		return p.Add(lock, own)
	}
	return p.Add(own)
}

// stuck reports whether a service has stopped working, though it has not ended.
func (s *stages) stuck(ctx context.Context) bool {
	list, done, _ := s.snapshot()
	for i := range list[:done] {
		if one := &list[i]; one.watchdog && errors.Is(one.Health(ctx), service.ErrStalled) {
			return true
		}
	}
	return false
}
