package service

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrStarted is wrapped by the error of [Lifecycle.Start] if the service was
// started or stopped before.
var ErrStarted = errors.New("it was started or stopped already; make a new one")

// Lifecycle is the life of a service: it starts once, runs, and ends by Stop, by
// the end of its context or by itself. All methods are safe for concurrent use.
type Lifecycle struct {
	name string
	wake chan struct{} // capacity 1: a second wake-up adds nothing
	done chan struct{}

	mu      sync.Mutex
	started bool // or stopped before it could start
	stop    context.CancelFunc
	kill    context.CancelFunc
}

// New returns the lifecycle of a service that has yet to start. The name is for
// errors: "scheduler" gives "stop the scheduler: ...".
func New(name string) *Lifecycle {
	return &Lifecycle{name: name, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// Start runs main in a goroutine and returns at once. The soft context ends with
// ctx or by Stop; the hard one when Stop runs out of patience. Each of beside runs
// in a goroutine of its own until the soft context ends, which it does at the
// latest when main returns. The service has ended when all of them have returned.
//
// Start returns an error that wraps [ErrStarted], and runs nothing, if the service
// was started or stopped before.
func (l *Lifecycle) Start(ctx context.Context, main func(soft, hard context.Context), beside ...func(soft context.Context)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.started {
		return fmt.Errorf("start the %s: %w", l.name, ErrStarted)
	}
	l.started = true
	soft, stop := context.WithCancel(ctx)
	hard, kill := context.WithCancel(context.WithoutCancel(ctx))
	l.stop, l.kill = stop, kill
	var helpers sync.WaitGroup
	for _, run := range beside {
		helpers.Go(func() { run(soft) })
	}
	go func() { // deferred calls run from the last one up
		defer close(l.done)
		defer kill()
		defer helpers.Wait()
		defer stop()
		main(soft, hard)
	}()
	return nil
}

// Finishing returns the context of what is in flight when a service stops: it ends with hard, or a time after soft.
func Finishing(soft, hard context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(hard)
	stop := context.AfterFunc(soft, func() {
		select {
		case <-ctx.Done():
		case <-time.After(most):
			cancel()
		}
	})
	return ctx, func() {
		stop()
		cancel()
	}
}

// Stop ends the soft context and waits until the service has ended. If ctx ends
// before that, Stop ends the hard context too, still waits, and returns ctx's
// error. It may be called any number of times, also at once. A service that was
// never started ends without running and cannot be started any more.
func (l *Lifecycle) Stop(ctx context.Context) error {
	l.mu.Lock()
	if !l.started {
		l.started = true
		close(l.done)
	}
	stop, kill := l.stop, l.kill
	l.mu.Unlock()
	if stop == nil {
		return nil
	}
	stop()
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
	}
	if l.ended() { // both channels were ready
		return nil
	}
	kill()
	<-l.done
	return fmt.Errorf("stop the %s: %w", l.name, ctx.Err())
}

// Started reports whether the service was started, or stopped before it could be.
func (l *Lifecycle) Started() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.started
}

// Done is closed when the service has ended and none of its goroutines is left.
func (l *Lifecycle) Done() <-chan struct{} { return l.done }

func (l *Lifecycle) ended() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// Wake makes Woken receive once. It never blocks, and wake-ups that nobody has
// received yet count as one.
func (l *Lifecycle) Wake() {
	select {
	case l.wake <- struct{}{}:
	default: // a wake-up is waiting already
	}
}

// Woken receives after Wake was called. It is for the service's main loop only.
func (l *Lifecycle) Woken() <-chan struct{} { return l.wake }

// Guard turns a panic of somebody else's code into an error.
func Guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return call()
}
