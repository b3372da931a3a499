package service

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/nextrun/nextrun/ops/cli/ui"
)

// lastWords is how long a process may take to end after a second signal.
const lastWords = 2 * time.Second

// withSignals returns a context that ends with the first SIGINT or SIGTERM. After a second one nothing
// waits for running jobs any more, their commands are ended, and the process with them, within two seconds and with exit
// code 1. stop puts everything back.
//
// SIGHUP has the configuration read again, but ends a process of a terminal, which is gone then.
func (s *services) withSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, end := context.WithCancel(parent)
	signals, hangups, over := make(chan os.Signal, 2), make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	switch {
	case signal.Ignored(syscall.SIGHUP): // as under nohup
	case term.IsTerminal(int(os.Stdin.Fd())):
		signal.Notify(signals, syscall.SIGHUP)
	default:
		signal.Notify(hangups, syscall.SIGHUP)
	}
	go func() { // beside the others, since a file system may be silent
		for {
			select {
			case <-hangups:
				s.reload()
			case <-over:
				return
			}
		}
	}()
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for {
			select {
			case got := <-signals:
				switch {
				case ctx.Err() == nil:
					s.log.Info("signal received; a second one ends it at once")
					end()
				case got != syscall.SIGHUP: // the end of a session may send several
					signal.Stop(signals) // a third one does what it does by default
					s.hurry(over)
					return
				}
			case <-over:
				return
			}
		}
	})
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(hangups)
		close(over)
		waiting.Wait()
		end()
	}
}

// hurry ends the process, unless over is closed in time.
func (s *services) hurry(over <-chan struct{}) {
	s.process.Hurry()
	select {
	case <-time.After(lastWords):
		os.Exit(ui.Failed)
	case <-over:
	}
}
