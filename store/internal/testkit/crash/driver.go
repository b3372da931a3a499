//go:build linux

package crash

import (
	"context"
	"database/sql/driver"
	"errors"
	"regexp"
	"strings"
)

// connector makes connections with steps.
type connector struct {
	driver driver.Driver
	source string
	step   func(string)
}

// Driver implements [driver.Connector].
func (c connector) Driver() driver.Driver { return c.driver }

// Connect implements [driver.Connector].
func (c connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.driver.Open(c.source)
	if err != nil {
		return nil, err
	}
	full, ok := conn.(whole)
	if !ok {
		return nil, errors.Join(errors.New("this driver cannot have steps"), conn.Close())
	}
	return &connection{full, c.step, "connect"}, nil
}

// whole is what both drivers implement.
type whole interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
}

type connection struct {
	whole
	count func(step string)
	last  string // step of the transaction
}

// noise is what differs between statements that are the same but for numbers of parameters and records.
var noise = regexp.MustCompile(`[^A-Za-z_]+`)

// step is the next one, the begin of a statement or another word. Connections are used by turns, so that what comes before a
// transaction says nothing.
func (c *connection) step(what string) {
	what = strings.TrimSpace(noise.ReplaceAllString(what, " "))
	begins := strings.HasPrefix(what, "BEGIN")
	if begins {
		c.last = ""
	}
	c.count(what + " <- " + c.last)
	switch {
	case what == "COMMIT": // that it is done comes after what it commits
	case what == committed || what == "ROLLBACK":
		c.last = ""
	case begins || c.last != "":
		c.last = what
	}
}

// committed is the step after a commit.
const committed = "committed"

// BeginTx implements [driver.ConnBeginTx].
func (c *connection) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.whole.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	c.step("BEGIN")
	return transaction{tx, c}, nil
}

// ExecContext implements [driver.ExecerContext].
func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.step(query)
	if query == "COMMIT" { // SQLite
		defer c.step(committed)
	}
	return c.whole.ExecContext(ctx, query, args)
}

// QueryContext implements [driver.QueryerContext].
func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.step(query)
	return c.whole.QueryContext(ctx, query, args)
}

// CheckNamedValue implements [driver.NamedValueChecker].
func (c *connection) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.whole.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// ResetSession implements [driver.SessionResetter].
func (c *connection) ResetSession(ctx context.Context) error {
	if r, ok := c.whole.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid implements [driver.Validator].
func (c *connection) IsValid() bool {
	v, ok := c.whole.(driver.Validator)
	return !ok || v.IsValid()
}

type transaction struct {
	driver.Tx
	on *connection
}

// Rollback implements [driver.Tx].
func (t transaction) Rollback() error {
	t.on.last = ""
	return t.Tx.Rollback()
}

// Commit implements [driver.Tx].
func (t transaction) Commit() error {
	t.on.step("COMMIT")
	err := t.Tx.Commit()
	t.on.step(committed)
	return err
}
