package postgres

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"errors"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/nextrun/nextrun/internal/sqldb"
	server "github.com/nextrun/nextrun/store/internal/postgres"
)

// connector makes connections that need fewer exchanges with the server than those of the
// driver: they send the first query of a transaction with BEGIN, and keep statements.
type connector struct {
	*pq.Connector
	shared bool // the sessions are a pooler's: nothing stays in them
}

// Connect implements [driver.Connector].
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	making := &dialing{ctx: ctx}
	made, err := c.Connector.Connect(context.WithValue(ctx, dialingKey{}, making))
	if err != nil {
		return nil, err
	}
	return &conn{plainConn: made.(plainConn), line: making.line, shared: c.shared}, nil
}

// plainConn is what a connection of the driver can do.
type plainConn interface {
	driver.Conn
	driver.Tx
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.QueryerContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// conn is a connection of nextrun's own pool.
//
// A pooler that gives each transaction another session of the server would not find the
// statements that it keeps. So each transaction looks for a mark in its session, and leaves
// a new one if there is none.
type conn struct {
	plainConn
	line   *server.Line
	shared bool
	mark   string               // that was left last
	kept   map[string]statement // in the session with the mark
	own    bool                 // this transaction has that session
	broken bool                 // the pool drops the connection
}

// IsValid implements [driver.Validator].
func (c *conn) IsValid() bool { return !c.broken && !c.line.Doubtful() && c.plainConn.IsValid() }

// ResetSession implements [driver.SessionResetter].
func (c *conn) ResetSession(ctx context.Context) error {
	if !c.IsValid() {
		return driver.ErrBadConn
	}
	return c.plainConn.ResetSession(ctx)
}

// Close implements [driver.Conn].
func (c *conn) Close() error {
	_ = c.line.SetDeadline(time.Now().Add(server.LastMoment)) // or it is closed
	return c.plainConn.Close()
}

// Ping implements [driver.Pinger].
func (c *conn) Ping(ctx context.Context) error {
	c.line.Ask(ctx)
	return c.plainConn.Ping(ctx)
}

// marked is a query for the mark of the session. If there is none, it leaves the given one.
func marked(mark string) string {
	const setting = "coalesce(current_setting('nextrun.connection', true), '')"
	return setting + ", CASE " + setting + " WHEN '' THEN set_config('nextrun.connection', '" + mark + "', false) END"
}

// BeginTx implements [driver.ConnBeginTx].
func (c *conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	c.own = false
	c.line.Ask(ctx)
	opening := sqldb.OpeningOf(ctx)
	if opening == nil || opening.SQL == "" {
		tx, err := c.plainConn.BeginTx(ctx, options)
		return &plainTx{tx, c, ctx}, err
	}
	begin := "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; "
	if options.ReadOnly {
		begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; "
	}
	begin += opening.SQL
	mark := rand.Text()
	if !c.shared {
		begin += ", " + marked(mark)
	}
	opening.Asked = time.Now()
	row, err := c.row(ctx, begin)
	if err != nil {
		c.broken = true // it may have begun
		return nil, err
	}
	now, ok := row[0].(time.Time)
	if !ok {
		c.broken = true
		return nil, errors.New("begin: the server sent no time")
	}
	switch before := text(row[len(row)-2]); {
	case c.shared:
	case before == "":
		c.mark, c.kept = mark, map[string]statement{}
	case before == c.mark:
		c.own = true
	}
	opening.Sent, opening.Now = true, now
	return &begun{c, ctx}, nil
}

// text is a value of a column of texts.
func text(value driver.Value) string {
	if raw, ok := value.([]byte); ok {
		return string(raw)
	}
	plain, _ := value.(string)
	return plain
}

// row is the first row of a query without parameters.
func (c *conn) row(ctx context.Context, query string) ([]driver.Value, error) {
	rows, err := c.plainConn.QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	values := make([]driver.Value, len(rows.Columns()))
	if len(values) < 2 {
		return nil, errors.Join(errors.New("begin: the server sent no row"), rows.Close())
	}
	return values, errors.Join(rows.Next(values), rows.Close())
}

// begun is a transaction. Its end is sent as a statement: the driver commits and rolls
// back only transactions that it has begun itself.
type begun struct {
	*conn
	ctx context.Context
}

// Commit implements [driver.Tx].
func (t *begun) Commit() error {
	t.line.Ask(t.ctx)
	rows, err := t.plainConn.QueryContext(t.ctx, "COMMIT", nil)
	if err != nil {
		t.broken = true
		return err
	}
	tagged, ok := rows.(interface{ Tag() string })
	committed := ok && tagged.Tag() == "COMMIT"
	if err := rows.Close(); err != nil || !committed {
		t.broken = true
		if err == nil {
			err = pq.ErrInFailedTransaction
		}
		return err
	}
	return nil
}

// Rollback implements [driver.Tx].
func (t *begun) Rollback() error {
	rows, err := t.plainConn.QueryContext(context.WithoutCancel(t.ctx), "ROLLBACK", nil)
	if err == nil {
		err = rows.Close()
	}
	t.broken = t.broken || err != nil
	return err
}

// plainTx is a transaction that the driver has begun.
type plainTx struct {
	driver.Tx
	conn *conn
	ctx  context.Context
}

// Commit implements [driver.Tx].
func (t *plainTx) Commit() error {
	t.conn.line.Ask(t.ctx)
	return t.Tx.Commit()
}

// PrepareContext implements [driver.ConnPrepareContext].
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.line.Ask(ctx)
	return c.plainConn.PrepareContext(ctx, query)
}

// QueryContext implements [driver.QueryerContext].
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.line.Ask(ctx)
	kept, err := c.prepared(ctx, query)
	if err != nil {
		return nil, err
	} else if kept == nil {
		return c.plainConn.QueryContext(ctx, query, args)
	}
	rows, err := kept.(driver.StmtQueryContext).QueryContext(ctx, args)
	c.outcome(err)
	return rows, err
}

// ExecContext implements [driver.ExecerContext].
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.line.Ask(ctx)
	kept, err := c.prepared(ctx, query)
	if err != nil {
		return nil, err
	} else if kept == nil {
		return c.plainConn.ExecContext(ctx, query, args)
	}
	result, err := kept.(driver.StmtExecContext).ExecContext(ctx, args)
	c.outcome(err)
	return result, err
}

// statement is one that is kept.
type statement struct {
	driver.Stmt
	until time.Time
}

// prepared is a statement of the session that is kept; nil: this one is not.
func (c *conn) prepared(ctx context.Context, query string) (driver.Stmt, error) {
	during := sqldb.Keeps(ctx)
	if !c.own || during == 0 {
		return nil, nil
	}
	now := time.Now()
	if kept, ok := c.kept[query]; ok && now.Before(kept.until) {
		return kept.Stmt, nil
	}
	for text, old := range c.kept {
		if !now.Before(old.until) {
			delete(c.kept, text)
			if err := old.Close(); err != nil {
				c.broken = true
				return nil, err
			}
		}
	}
	made, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.kept[query] = statement{made, now.Add(during)}
	return made, nil
}

// outcome makes the pool drop the connection after an error for which a kept statement may be to
// blame, such as after a change of the tables. What a row, a lock or the time is to blame for is none.
func (c *conn) outcome(err error) {
	if err == nil {
		return
	}
	said := (*pq.Error)(nil)
	c.broken = c.broken || !errors.As(err, &said) || !slices.Contains([]string{"22", "23", "40", "55", "57", "P0"}, string(said.Code.Class()))
}
