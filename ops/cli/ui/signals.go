package ui

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// ErrHangup is the cause of a context that SIGHUP has ended.
var ErrHangup = errors.New("SIGHUP")

// LastWords is how long a process may take to end after a second signal.
const LastWords = 2 * time.Second

// WithSignals returns a context that ends with the first SIGINT, SIGTERM or SIGHUP.
// After a second one nothing waits for running jobs: their commands are ended, and the
// process with them, within two seconds and with exit code 1. stop puts everything back.
func WithSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, first := context.WithCancelCause(parent)
	atOnce, second := context.WithCancel(context.WithoutCancel(parent))
	ctx = context.WithValue(ctx, atOnceKey{}, atOnce)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	over := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for atOnce.Err() == nil {
			select {
			case s := <-signals:
				switch {
				case ctx.Err() == nil && s == syscall.SIGHUP:
					first(ErrHangup)
				case ctx.Err() == nil:
					first(nil)
				case s != syscall.SIGHUP: // the end of a session may send several
					second()
				}
			case <-over:
				return
			}
		}
		signal.Stop(signals) // a third one does what it does by default
		select {
		case <-time.After(LastWords):
			os.Exit(Failed)
		case <-over:
		}
	})
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(over)
		waiting.Wait()
		first(nil)
		second()
	})
}

type atOnceKey struct{}

// AtOnce returns a context that ends when the program is to end at once.
func AtOnce(ctx context.Context) context.Context {
	if ctx, ok := ctx.Value(atOnceKey{}).(context.Context); ok {
		return ctx
	}
	return context.WithoutCancel(ctx)
}
