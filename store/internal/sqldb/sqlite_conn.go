//go:build cgo && !nosqlite

package sqldb

import (
	"context"
	"database/sql/driver"

	"github.com/mattn/go-sqlite3"
)

// sqliteConnector opens the connections of a pool.
type sqliteConnector struct {
	file   *sqliteFile
	source string
}

// Connect implements [driver.Connector].
func (c *sqliteConnector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.file.connect(func() (*sqlite3.SQLiteConn, error) { return openSQLiteConn(c.source) })
	if err != nil {
		return nil, err
	}
	return conn, nil
}

func openSQLiteConn(source string) (*sqlite3.SQLiteConn, error) {
	conn, err := (&sqlite3.SQLiteDriver{}).Open(source)
	if err != nil {
		return nil, err
	}
	return conn.(*sqlite3.SQLiteConn), nil
}

// Driver implements [driver.Connector].
func (*sqliteConnector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

// sqliteConn is a connection that fails once its file is not the database's any
// more: when it is taken from the pool (where another one takes its place), and
// before it commits.
type sqliteConn struct {
	*sqlite3.SQLiteConn
	file  *sqliteFile
	files *sqliteFiles // that it has open
}

// ResetSession implements [driver.SessionResetter].
func (c *sqliteConn) ResetSession(context.Context) error { return c.file.check(c.files) }

// Ping implements [driver.Pinger].
func (c *sqliteConn) Ping(context.Context) error { return c.file.check(c.files) }

// BeginTx implements [driver.ConnBeginTx].
func (c *sqliteConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	tx, err := c.SQLiteConn.BeginTx(ctx, options)
	return &sqliteTx{Tx: tx, conn: c}, err
}

// sqliteTx is a transaction of such a connection.
type sqliteTx struct {
	driver.Tx
	conn *sqliteConn
}

// Commit implements [driver.Tx].
func (t *sqliteTx) Commit() error {
	if err := t.conn.file.check(t.conn.files); err != nil {
		_ = t.Rollback() // the other error tells more
		return err
	}
	return t.Tx.Commit()
}

// checkpoint moves all that was committed from the -wal into the database file.
func checkpoint(c *sqlite3.SQLiteConn) bool {
	rows, err := c.Query("PRAGMA wal_checkpoint(PASSIVE)", nil)
	if err != nil {
		return false
	}
	defer rows.Close() //nolint:errcheck // reading
	busyLogDone := make([]driver.Value, 3)
	return rows.Next(busyLogDone) == nil && busyLogDone[1] == busyLogDone[2]
}
