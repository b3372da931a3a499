package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// minConns is the least limit of an adopted pool on SQLite: the watchers keep
// a connection each, and a reader and a writer need one as well.
const minConns = MaxWatchers + 2

// Adopt returns the database of a pool that the program has opened. It checks what store.Open would have set.
func Adopt(ctx context.Context, pool *sql.DB, o sqldb.Options) (*sqldb.DB, error) {
	if err := Refuse(o); err != nil {
		return nil, err
	}
	if _, err := pool.ExecContext(ctx, "SELECT key FROM jsonb_each('[]')"); err != nil {
		return nil, fmt.Errorf("the driver brings a SQLite that is older than nextrun needs, 3.51: %w", err)
	}
	if limit := pool.Stats().MaxOpenConnections; limit > 0 && limit < minConns {
		return nil, fmt.Errorf("the pool is limited to %d connections, and nextrun needs up to %d: it keeps some to watch for "+
			"changes; call SetMaxOpenConns(0), or give nextrun a pool of its own", limit, minConns)
	}
	file, err := checkPool(ctx, pool)
	if err != nil {
		return nil, err
	}
	turn := make(chan struct{}, 1)
	refused := func(string) error { return sqldb.ErrUnavailable }
	return New(file, refused, sqldb.Pools{
		URL: "sqlite:" + file, Write: pool, Read: pool, Migrate: pool, Lent: true,
		Begin: func(ctx context.Context, readOnly bool) (sqldb.Transaction, error) {
			return beginOnConn(ctx, pool, turn, readOnly)
		},
	}, o), nil
}

// New returns the database in a file. refused is the class of an error that says that the
// file system does not let this user do something with it.
func New(file string, refused func(what string) error, p sqldb.Pools, o sqldb.Options) *sqldb.DB {
	return sqldb.New(&dialect{read: p.Read, refused: refused}, p, o)
}

// checkPool looks at two connections at once, since a program may have sent its
// PRAGMAs to one only, and returns the path of the file.
func checkPool(ctx context.Context, pool *sql.DB) (file string, err error) {
	first, err := pool.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer first.Close() //nolint:errcheck // back to the pool
	second, err := pool.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer second.Close() //nolint:errcheck // back to the pool
	if file, err = checkConn(ctx, first); err == nil {
		_, err = checkConn(ctx, second)
	}
	return file, err
}

func checkConn(ctx context.Context, conn *sql.Conn) (file string, err error) {
	var mode string
	var foreignKeys, timeout int
	err = conn.QueryRowContext(ctx, `SELECT coalesce((SELECT file FROM pragma_database_list WHERE name = 'main'), ''),
		(SELECT journal_mode FROM pragma_journal_mode), (SELECT foreign_keys FROM pragma_foreign_keys),
		(SELECT timeout FROM pragma_busy_timeout)`).Scan(&file, &mode, &foreignKeys, &timeout)
	const remedy = "; set it for every connection, in the DSN: with go-sqlite3 " +
		"?_journal_mode=WAL&_foreign_keys=on&_busy_timeout=5000&_txlock=immediate, with modernc.org/sqlite " +
		"?_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)&_txlock=immediate"
	switch {
	case err != nil:
		return "", err
	case file == "":
		return "", errors.New("the database is in memory, where each connection has one of its own; nextrun needs a file")
	case !strings.EqualFold(mode, "wal"):
		return "", fmt.Errorf("journal_mode is %s, and nextrun needs WAL, so that readers and the writer do not block each other%s",
			mode, remedy)
	case foreignKeys == 0:
		return "", fmt.Errorf("foreign_keys is off on a connection of the pool%s", remedy)
	case timeout == 0:
		return "", fmt.Errorf("busy_timeout is 0 on a connection of the pool, so every write beside another one would fail%s", remedy)
	}
	return file, nil
}

// connTx is a transaction that was begun by a statement: drivers of SQLite begin one
// as the DSN says, and a deferred one that reads before it writes would fail beside
// another writer.
type connTx struct {
	*sql.Conn
	release func()
}

// beginOnConn begins a transaction on a connection of the pool. The writers of this
// process take turns, so that they do not poll for the file's lock.
func beginOnConn(ctx context.Context, pool *sql.DB, turn chan struct{}, readOnly bool) (sqldb.Transaction, error) {
	statement, release := "BEGIN", func() {}
	if !readOnly {
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		statement, release = "BEGIN IMMEDIATE", func() { <-turn }
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		release()
		return nil, err
	}
	tx := &connTx{Conn: conn, release: release}
	if _, err := conn.ExecContext(ctx, statement); err != nil {
		tx.discard() // it may have begun all the same
		return nil, err
	}
	return tx, nil
}

// Commit ends the transaction. If that fails, it is rolled back.
func (tx *connTx) Commit() error {
	if _, err := tx.ExecContext(context.Background(), "COMMIT"); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.done()
}

// Rollback ends the transaction without its changes. After Commit it returns
// [sql.ErrTxDone].
func (tx *connTx) Rollback() error {
	if tx.release == nil {
		return sql.ErrTxDone
	}
	if _, err := tx.ExecContext(context.Background(), "ROLLBACK"); err != nil {
		tx.discard()
		return nil //nolint:nilerr // SQLite has rolled it back already, or does with the connection
	}
	return tx.done()
}

func (tx *connTx) done() error {
	release := tx.release
	tx.release = nil
	defer release()
	return tx.Close()
}

// discard closes the connection instead of giving it back to the pool.
func (tx *connTx) discard() {
	_ = tx.Raw(func(any) error { return driver.ErrBadConn })
	_ = tx.done()
}
