package postgres

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// answerGrace is how much longer than a statement may take an answer may.
const answerGrace = 5 * time.Second

// dialer makes connections that fail if the server, or the network, falls
// silent: every statement has a timeout, so an answer that does not come will
// not come. The system itself notices that after a quarter of an hour, or never.
type dialer struct {
	plain    net.Dialer
	patience time.Duration
}

// Dial implements [pq.Dialer].
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialTimeout implements [pq.Dialer].
func (d *dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// DialContext implements [pq.DialerContext].
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.plain.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &impatientConn{Conn: conn, patience: d.patience}, nil
}

// impatientConn gives each read and write a time limit, unless it has one.
type impatientConn struct {
	net.Conn
	patience time.Duration
	limited  atomic.Bool
}

// SetDeadline implements [net.Conn]; pq limits the making of a connection so.
func (c *impatientConn) SetDeadline(t time.Time) error {
	c.limited.Store(!t.IsZero())
	return c.Conn.SetDeadline(t)
}

// Read implements [net.Conn].
func (c *impatientConn) Read(p []byte) (int, error) {
	if !c.limited.Load() {
		if err := c.SetReadDeadline(time.Now().Add(c.patience)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Read(p)
}

// Write implements [net.Conn].
func (c *impatientConn) Write(p []byte) (int, error) {
	if !c.limited.Load() {
		if err := c.SetWriteDeadline(time.Now().Add(c.patience)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(p)
}
