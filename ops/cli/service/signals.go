package service

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/ops/cli/ui"
)

// errHangup is the cause of a context that SIGHUP has ended.
var errHangup = errors.New("SIGHUP")

// lastWords is how long a process may take to end after a second signal.
const lastWords = 2 * time.Second

// withSignals returns a context that ends with the first SIGINT, SIGTERM or SIGHUP. A second one calls hurry: nothing
// waits for running jobs any more, their commands are ended, and the process with them, within two seconds and with exit
// code 1. stop puts everything back.
func withSignals(parent context.Context, hurry func()) (ctx context.Context, stop func()) {
	ctx, first := context.WithCancelCause(parent)
	signals, over := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for {
			select {
			case s := <-signals:
				switch hangup := s == syscall.SIGHUP; {
				case ctx.Err() == nil && hangup:
					first(errHangup)
				case ctx.Err() == nil:
					first(nil)
				case !hangup: // the end of a session may send several
					signal.Stop(signals) // a third one does what it does by default
					hurry()
					exitUnless(over)
					return
				}
			case <-over:
				return
			}
		}
	})
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		waiting.Wait()
		first(nil)
	}
}

// exitUnless ends the process unless it has ended in order before.
func exitUnless(over <-chan struct{}) {
	select {
	case <-time.After(lastWords):
		os.Exit(ui.Failed)
	case <-over:
	}
}
