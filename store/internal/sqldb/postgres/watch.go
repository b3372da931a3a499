package postgres

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/lib/pq"

	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// Watch listens on a connection of its own. pq's listener reconnects by itself;
// what happened meanwhile is unknown, so each reconnect wakes too. A connection that is
// lost is no failure: if the next one cannot be made, that is.
func (d *dialect) Watch(ctx context.Context, topics []sqldb.Topic, wake func(), report func(error)) {
	if d.dsn == "" {
		<-ctx.Done()
		return
	}
	listener := pq.NewDialListener(watchDialer{ctx}, d.dsn, 100*time.Millisecond, 10*time.Second, func(event pq.ListenerEventType, err error) {
		if err != nil && event != pq.ListenerEventDisconnected && ctx.Err() == nil {
			report(fmt.Errorf("listen for changes: %w", d.scrub(err)))
		}
	})
	defer listener.Close() //nolint:errcheck // nothing is lost with it
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	for _, t := range topics {
		// Listen waits for the first connection; it fails only when closed, or
		// when the server refuses, which polling then makes up for.
		if err := listener.Listen(string(t)); err != nil && ctx.Err() == nil {
			report(fmt.Errorf("listen for changes on %s: %w", t, d.scrub(err)))
		}
	}
	wake()
	ping := time.NewTicker(30 * time.Second)
	defer ping.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-listener.Notify:
			if !ok {
				return
			}
			wake() // a nil notification tells of a new connection
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
