//go:build cgo && !nosqlite

package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"

	"github.com/mattn/go-sqlite3"
)

// The driver tries these formats in turn. That of nextrun's tables comes second, since the first one is
// also how the driver writes: what fails before it is half of what it takes to read a row with times.
func init() {
	formats := sqlite3.SQLiteTimestampFormats
	if i := slices.Index(formats, "2006-01-02 15:04:05.999999999"); i > 1 {
		formats[1], formats[i] = formats[i], formats[1]
	}
}

// connector opens the connections of a pool.
type connector struct {
	file   *file
	source string
}

// Connect implements [driver.Connector].
func (c *connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.file.connect(func() (*sqlite3.SQLiteConn, error) { return openDriver(c.source) })
	if err != nil {
		return nil, err
	}
	return conn, nil
}

func openDriver(source string) (*sqlite3.SQLiteConn, error) {
	conn, err := (&sqlite3.SQLiteDriver{}).Open(source)
	if err != nil {
		return nil, err
	}
	return conn.(*sqlite3.SQLiteConn), nil
}

// Driver implements [driver.Connector].
func (*connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

// guardedConn is a connection that fails once its file is not the database's any
// more: when it is taken from the pool (where another one takes its place), and
// before it commits.
type guardedConn struct {
	*sqlite3.SQLiteConn
	file  *file
	files *openFiles // that it has open
}

// ResetSession implements [driver.SessionResetter].
func (c *guardedConn) ResetSession(context.Context) error { return c.file.check(c.files) }

// Ping implements [driver.Pinger].
func (c *guardedConn) Ping(context.Context) error { return c.file.check(c.files) }

// BeginTx implements [driver.ConnBeginTx].
func (c *guardedConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	tx, err := c.SQLiteConn.BeginTx(ctx, options)
	return &guardedTx{Tx: tx, conn: c}, err
}

// guardedTx is a transaction of such a connection.
type guardedTx struct {
	driver.Tx
	conn *guardedConn
}

// Commit implements [driver.Tx].
func (t *guardedTx) Commit() error {
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
