package postgres

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/lib/pq"

	server "github.com/nextrun/nextrun/store/internal/postgres"
)

// place is where watchers listen.
type place struct {
	dsn   string
	scrub func(error) error
}

// listen is a [server.Listen]. pq's listener reconnects by itself.
func (p place) listen(ctx context.Context, l server.Listener) {
	events := func(event pq.ListenerEventType, err error) { // one at a time
		switch {
		case event == pq.ListenerEventDisconnected:
			l.Lost(err)
		case err != nil:
			l.Failed(p.scrub(err))
		}
	}
	listener := pq.NewDialListener(watchDialer{ctx}, p.dsn, server.ListenAgainMin, server.ListenAgainMax, events)
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer func() { // who has stopped the call of Close makes it
		stop()
		_ = listener.Close()
	}()
	for _, channel := range l.Channels {
		// Listen waits for the first connection; it fails only when closed, or
		// when the server refuses, which polling then makes up for.
		if err := listener.Listen(channel); err != nil && ctx.Err() == nil {
			l.Failed(p.scrub(err))
		}
	}
	l.Made()
	hear(ctx, listener, l)
}

// hearing is what hear needs of a [pq.Listener].
type hearing interface {
	NotificationChannel() <-chan *pq.Notification
	Ping() error
}

// hear hands on what a listener hears, until it is closed.
func hear(ctx context.Context, listener hearing, l server.Listener) {
	var pings sync.WaitGroup
	defer pings.Wait()
	defer func() { // what still comes is taken, since the answer to a ping is behind it
		go func() {
			for range listener.NotificationChannel() {
			}
		}()
	}()
	pings.Go(func() { ping(ctx, listener) })
	for {
		select {
		case <-ctx.Done():
			return
		case n, ok := <-listener.NotificationChannel():
			switch {
			case !ok:
				return
			case n == nil: // a new connection
				l.Made()
			default:
				l.Heard()
			}
		}
	}
}

// ping has the server answer now and then. The listener reports connections that break, and makes others.
func ping(ctx context.Context, listener hearing) {
	ticks := time.NewTicker(server.PingEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			_ = listener.Ping()
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
	if err != nil {
		return nil, err
	}
	context.AfterFunc(d.ctx, func() { _ = conn.Close() })
	return pinged{conn}, nil
}

// pinged is a connection on which silence is an error.
type pinged struct{ net.Conn }

// Read implements [net.Conn].
func (c pinged) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(server.PingEvery + server.PingLimit)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}
