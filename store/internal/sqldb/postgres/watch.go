package postgres

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/lib/pq"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// Bounds of the time between attempts to listen again. The longer one is short: others
// may take over from a worker that cannot be reached.
const (
	listenAgainMin = 100 * time.Millisecond
	listenAgainMax = time.Second
)

// Watch implements [sqldb.Dialect]. It listens on a connection of its own. pq's listener
// reconnects by itself; what happened meanwhile is unknown, so each reconnect wakes too. A
// connection that is lost is no failure: if the next one cannot be made, that is.
func (d *dialect) Watch(ctx context.Context, w sqldb.Watch) {
	if d.dsn == "" {
		hereOnly(ctx, w)
		return
	}
	life := d.session(w)
	var quiet time.Time // until when no failure is reported
	pause := service.Backoff{Least: listenAgainMin, Most: 10 * time.Second}
	events := func(event pq.ListenerEventType, err error) { // one at a time
		switch {
		case event == pq.ListenerEventDisconnected:
			life.lost()
		case err == nil:
			quiet = time.Time{}
			pause.Reset()
		case ctx.Err() == nil && time.Now().After(quiet):
			quiet = time.Now().Add(pause.Next())
			w.Report(fmt.Errorf("listen for changes: %w", d.scrub(err)))
		}
	}
	// The connection stays until the row of the session is gone: see leave.
	alive, cut := context.WithCancel(context.WithoutCancel(ctx))
	listener := pq.NewDialListener(watchDialer{alive}, life.dsn, listenAgainMin, listenAgainMax, events)
	closeAll := func() {
		cut() // a listener that waits for a server cannot be closed
		_ = listener.Close()
	}
	defer closeAll()
	stop := context.AfterFunc(ctx, closeAll)
	for _, channel := range life.channels(w.Topics) {
		// Listen waits for the first connection; it fails only when closed, or
		// when the server refuses, which polling then makes up for.
		if err := listener.Listen(channel); err != nil && ctx.Err() == nil {
			w.Report(fmt.Errorf("listen for changes on %s: %w", channel, d.scrub(err)))
		}
	}
	stop()
	w.Wake()
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { life.run(ctx) })
	relay(ctx, listener, life, w.Wake)
}

// hereOnly hands on what this process changes: without a URL to listen at, nobody tells of
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

// relay hands on what a listener hears, until it is closed.
func relay(ctx context.Context, listener *pq.Listener, life *session, wake func()) {
	ping := time.NewTicker(30 * time.Second)
	defer ping.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case n, ok := <-listener.Notify:
			switch {
			case !ok:
				return
			case n == nil: // a new connection
				life.made()
				wake()
			case n.Channel == life.channel:
				life.hear(n.Extra)
			default:
				wake()
			}
		case <-ping.C:
			go listener.Ping() //nolint:errcheck // finds a dead connection; the listener reports and reconnects
		}
	}
}

// watchDialer makes connections that break when ctx ends: pq's listener cannot be closed
// while it waits for a server that does not answer.
type watchDialer struct{ ctx context.Context }

// Dial implements [pq.Dialer].
func (d watchDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialTimeout(network, address, 0)
}

// DialTimeout implements [pq.Dialer].
func (d watchDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: timeout}).DialContext(d.ctx, network, address)
	if err == nil {
		context.AfterFunc(d.ctx, func() { _ = conn.Close() })
	}
	return conn, err
}
