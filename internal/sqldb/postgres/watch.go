package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// Bounds of the time between attempts to listen again. The longer one is short: others
// may take over from a worker that cannot be reached.
const (
	ListenAgainMin = 100 * time.Millisecond
	ListenAgainMax = time.Second
)

// PingEvery is how often a connection that listens is looked after.
const PingEvery = 30 * time.Second

// Listen listens on a connection of its own until ctx ends. When the connection is lost,
// it makes another one.
type Listen func(ctx context.Context, l Listener)

// Listener is what somebody who listens wants. Its functions may be called by several
// goroutines.
type Listener struct {
	Name     string // application_name of the connection; empty: that of the others
	Channels []string
	Made     func() // a new connection listens
	Lost     func() // it is lost
	Failed   func(error)
	Heard    func(channel, text string)
}

// Watch implements [sqldb.Dialect]. What happened while nobody listened is unknown, so
// each new connection wakes, too. A connection that is lost is no failure: if the next one
// cannot be made, that is.
func (d *dialect) Watch(ctx context.Context, w sqldb.Watch) {
	if d.server.Listen == nil {
		hereOnly(ctx, w)
		return
	}
	life := d.session(w)
	var mu sync.Mutex
	var quiet time.Time // until when no failure is reported
	pause := service.Backoff{Least: ListenAgainMin, Most: 10 * time.Second}
	l := Listener{Name: life.name, Channels: life.channels(w.Topics)}
	l.Made = func() {
		life.made()
		w.Wake()
	}
	l.Lost = func() {
		life.lost()
		mu.Lock()
		defer mu.Unlock()
		quiet = time.Time{}
		pause.Reset()
	}
	l.Failed = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() == nil && time.Now().After(quiet) {
			quiet = time.Now().Add(pause.Next())
			w.Report(fmt.Errorf("listen for changes: %w", err))
		}
	}
	l.Heard = func(channel, text string) {
		if channel == life.channel {
			life.hear(text)
			return
		}
		w.Wake()
	}
	// The connection stays until the row of the session is gone: see leave.
	listening, cut := context.WithCancel(context.WithoutCancel(ctx))
	var beside sync.WaitGroup
	beside.Go(func() { d.server.Listen(listening, l) })
	life.run(ctx)
	cut()
	beside.Wait()
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
