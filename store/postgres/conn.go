package postgres

import (
	"context"
	"net"
	"time"

	server "github.com/nextrun/nextrun/store/internal/postgres"
)

// dialer makes the connections of a pool.
type dialer struct {
	plain net.Dialer
	lines *server.Lines
}

// dialing is a connection that is being made for a pool. The end of ctx ends it, which the driver does not see to.
type dialing struct {
	ctx  context.Context
	line *server.Line
}

type dialingKey struct{}

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

// DialContext implements [pq.DialerContext]. What is not made for the pool asks the server to cancel a statement.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	made, pooled := ctx.Value(dialingKey{}).(*dialing)
	if !pooled {
		within, cancel := context.WithTimeout(ctx, server.LastMoment)
		defer cancel()
		conn, err := d.plain.DialContext(within, network, address)
		if err != nil {
			return nil, err
		}
		return brief{conn}, conn.SetDeadline(time.Now().Add(server.LastMoment))
	}
	conn, err := d.plain.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	made.line = d.lines.Open(conn)
	made.line.Ask(made.ctx)
	return made.line, nil
}

// brief is a connection that keeps its deadline.
type brief struct{ net.Conn }

// SetDeadline implements [net.Conn].
func (brief) SetDeadline(time.Time) error { return nil }
