package pgxstore

import (
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/nextrun/nextrun/store/internal/postgres"
)

// conn is a connection of the pool while nextrun uses it: no wait for an answer is without a limit.
type conn struct {
	*stdlib.Conn

	line   *postgres.Line
	shared bool // the sessions are a pooler's: no statement is kept in them
}

// Connect implements [driver.Connector].
func (l lent) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	made, err := l.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	plain := made.(*stdlib.Conn)
	return &conn{plain, l.lines.Open(plain.Conn().PgConn().Conn()), l.shared}, nil
}

// Close implements [driver.Conn]: the pool has it again.
func (c *conn) Close() error {
	c.line.Forget()
	return c.Conn.Close()
}

// ask begins the wait for an answer. The end of ctx is pgx's to see to.
func (c *conn) ask(ctx context.Context) { c.line.Ask(context.WithoutCancel(ctx)) }

// BeginTx implements [driver.ConnBeginTx]. The end of the transaction has the limit of its last statement.
func (c *conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	c.ask(ctx)
	return c.Conn.BeginTx(ctx, options)
}

// QueryContext implements [driver.QueryerContext].
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.ask(ctx)
	return c.Conn.QueryContext(ctx, query, c.mode(args))
}

// ExecContext implements [driver.ExecerContext].
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.ask(ctx)
	return c.Conn.ExecContext(ctx, query, c.mode(args))
}

// mode makes pgx send a statement without a name, where names would stay in somebody else's session.
func (c *conn) mode(args []driver.NamedValue) []driver.NamedValue {
	if !c.shared {
		return args
	}
	return append([]driver.NamedValue{{Value: pgx.QueryExecModeExec}}, args...)
}

// Ping implements [driver.Pinger].
func (c *conn) Ping(ctx context.Context) error {
	c.ask(ctx)
	return c.Conn.Ping(ctx)
}
