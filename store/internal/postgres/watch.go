package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// Bounds of the time between attempts to listen again.
const (
	ListenAgainMin = 100 * time.Millisecond
	ListenAgainMax = time.Second
)

// A connection that listens is asked for an answer so often, and may take so long for it: nothing else
// comes from a network that has fallen silent.
const (
	PingEvery = 5 * time.Second
	PingLimit = 5 * time.Second
)

var errSilent = errors.New("listen for changes: the network fell silent, listening again on a new connection")

// Listen listens on its own connection until ctx ends. When the connection is lost,
// it makes another one.
type Listen func(ctx context.Context, l Listener)

// Listener is what somebody who listens wants. Its functions may be called by several
// goroutines.
type Listener struct {
	Channels []string
	Made     func()      // a new connection listens
	Lost     func(error) // it is lost
	Failed   func(error)
	Heard    func() // a notification
}

// Watch implements [sqldb.Dialect]. What happened while nobody listened is unknown, so
// each new connection wakes, too. A connection that is lost is no failure: if the next one
// cannot be made, that is.
func (d *dialect) Watch(ctx context.Context, w sqldb.Watch) {
	if d.server.Listen == nil {
		hereOnly(ctx, w)
		return
	}
	var mu sync.Mutex
	var quiet time.Time // until when no failure is reported
	pause := service.Backoff{Least: ListenAgainMin, Most: 10 * time.Second}
	l := Listener{Made: w.Wake, Heard: w.Wake}
	for _, topic := range w.Topics {
		l.Channels = append(l.Channels, string(topic))
	}
	l.Lost = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		quiet = time.Time{}
		pause.Reset()
		if sqldb.TimedOut(err) && ctx.Err() == nil {
			d.server.Suspect()
			w.Report(errSilent)
		}
	}
	l.Failed = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() == nil && time.Now().After(quiet) {
			quiet = time.Now().Add(pause.Next())
			w.Report(fmt.Errorf("listen for changes: %w", err))
		}
	}
	d.server.Listen(ctx, l)
}

// hereOnly hands on what this process changes: where nobody listens, nobody tells of
// the others.
func hereOnly(ctx context.Context, w sqldb.Watch) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.Changed:
			w.Wake()
		}
	}
}
