package floor

import (
	"context"
	"net/url"
	"strings"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"           // the driver postgres
	_ "github.com/mattn/go-sqlite3" // the driver sqlite3
)

// Plain runs plain statements on a database. It is safe for concurrent use.
type Plain struct {
	db     *sqlx.DB
	sqlite bool
}

// Open opens a database that exists, on SQLite with the settings that the connections of package store have.
func Open(databaseURL string) (Plain, error) {
	path, sqlite := strings.CutPrefix(databaseURL, "sqlite:")
	if !sqlite {
		db, err := sqlx.Open("postgres", databaseURL)
		return Plain{db, false}, err
	}
	db, err := sqlx.Open("sqlite3", "file:"+strings.ReplaceAll(url.PathEscape(path), "%2F", "/")+
		"?mode=rw&_busy_timeout=5000&_foreign_keys=on&_journal_mode=WAL&_synchronous=FULL&_txlock=immediate&_stmt_cache_size=64")
	if err != nil {
		return Plain{}, err
	}
	db.SetMaxOpenConns(1)
	return Plain{db, true}, nil
}

// Close closes the connections.
func (p Plain) Close() error { return p.db.Close() }

// exec runs a statement by itself, and commits it, in the one round trip that it needs.
func (p Plain) exec(ctx context.Context, statement string) error {
	_, err := p.touched(ctx, p.db, statement)
	return err
}

// touched runs a statement, in a transaction or without one, and returns the number of rows that it touched.
func (p Plain) touched(ctx context.Context, in sqlx.ExecerContext, statement string) (int, error) {
	result, err := in.ExecContext(ctx, statement)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}
