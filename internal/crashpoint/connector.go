//go:build crashpoints && linux

package crashpoint

import (
	"context"
	"database/sql/driver"
	"errors"
)

// Connector returns a connector with points before and after each statement and commit.
func Connector(c driver.Connector) driver.Connector { return connector{c} }

type connector struct{ driver.Connector }

// Connect implements [driver.Connector].
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	full, ok := conn.(whole)
	if !ok {
		return nil, errors.Join(errors.New("this driver cannot have crash points"), conn.Close())
	}
	return connection{full}, nil
}

// whole is what both drivers implement.
type whole interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
}

type connection struct{ whole }

// BeginTx implements [driver.ConnBeginTx].
func (c connection) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.whole.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	At("database/begun")
	return transaction{tx}, nil
}

// ExecContext implements [driver.ExecerContext].
func (c connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	At("database/statement-next")
	result, err := c.whole.ExecContext(ctx, query, args)
	At("database/statement-done")
	return result, err
}

// QueryContext implements [driver.QueryerContext].
func (c connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	At("database/statement-next")
	rows, err := c.whole.QueryContext(ctx, query, args)
	At("database/statement-done")
	return rows, err
}

// CheckNamedValue implements [driver.NamedValueChecker].
func (c connection) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.whole.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// IsValid implements [driver.Validator].
func (c connection) IsValid() bool {
	v, ok := c.whole.(driver.Validator)
	return !ok || v.IsValid()
}

type transaction struct{ driver.Tx }

// Commit implements [driver.Tx].
func (t transaction) Commit() error {
	At("database/commit-next")
	err := t.Tx.Commit()
	At("database/commit-done")
	return err
}
