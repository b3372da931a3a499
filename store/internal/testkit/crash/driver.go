//go:build unix

package crash

import (
	"context"
	"database/sql/driver"
	"errors"
)

// connector makes connections with steps.
type connector struct {
	driver driver.Driver
	source string
	step   func()
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
	return connection{full, c.step}, nil
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
	step func()
}

// BeginTx implements [driver.ConnBeginTx].
func (c connection) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.whole.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	c.step()
	return transaction{tx, c.step}, nil
}

// ExecContext implements [driver.ExecerContext].
func (c connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.step()
	return c.whole.ExecContext(ctx, query, args)
}

// QueryContext implements [driver.QueryerContext].
func (c connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.step()
	return c.whole.QueryContext(ctx, query, args)
}

// CheckNamedValue implements [driver.NamedValueChecker].
func (c connection) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.whole.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// ResetSession implements [driver.SessionResetter].
func (c connection) ResetSession(ctx context.Context) error {
	if r, ok := c.whole.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid implements [driver.Validator].
func (c connection) IsValid() bool {
	v, ok := c.whole.(driver.Validator)
	return !ok || v.IsValid()
}

type transaction struct {
	driver.Tx
	step func()
}

// Commit implements [driver.Tx].
func (t transaction) Commit() error {
	t.step()
	err := t.Tx.Commit()
	t.step()
	return err
}
