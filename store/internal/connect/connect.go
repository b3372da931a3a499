// Package connect opens databases: it knows the URLs, and finds out what the pool of a
// program is connected to. The rest is in the packages postgres and sqlite.
package connect

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/nextrun/nextrun/internal/dburl"
	"github.com/nextrun/nextrun/store/internal/sqldb"
	"github.com/nextrun/nextrun/store/internal/sqldb/postgres"
	"github.com/nextrun/nextrun/store/internal/sqldb/sqlite"
)

// Open opens the database that a URL names, `sqlite:PATH` or `postgres://...`,
// and makes a first connection. Neither errors nor [sqldb.DB.URL] show a password.
// Close it after use.
func Open(ctx context.Context, databaseURL string, o sqldb.Options) (*sqldb.DB, error) {
	u, err := dburl.Parse(databaseURL)
	if err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	var db *sqldb.DB
	if u.Postgres == nil {
		db, err = sqlite.Open(ctx, u.SQLite, o)
	} else {
		db, err = postgres.Open(ctx, u, o)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", u.Redacted(), u.Scrub(err))
	}
	return db, nil
}

// Adopt returns the database of a pool that the program has opened. Close leaves the
// pool open.
func Adopt(ctx context.Context, pool *sql.DB, o sqldb.Options) (*sqldb.DB, error) {
	if pool == nil {
		return nil, errors.New("store.New: the *sql.DB is nil")
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	db, err := adopt(ctx, pool, o)
	if err != nil {
		return nil, fmt.Errorf("use the program's database: %w", err)
	}
	return db, nil
}

func adopt(ctx context.Context, pool *sql.DB, o sqldb.Options) (*sqldb.DB, error) {
	limits := o.WithDefaults()
	asking, cancel := context.WithTimeout(ctx, limits.ConnectTimeout+limits.LockTimeout)
	defer cancel()
	if err := pool.PingContext(asking); err != nil {
		return nil, err
	}
	var answer string
	errPostgres := pool.QueryRowContext(asking, "SELECT current_database() FROM (SELECT current_setting('server_version_num')) AS v").Scan(&answer)
	if errPostgres == nil {
		return postgres.Adopt(ctx, pool, answer, o)
	}
	errSQLite := pool.QueryRowContext(asking, "SELECT sqlite_version()").Scan(&answer)
	if errSQLite == nil {
		return sqlite.Adopt(asking, pool, answer, o)
	}
	return nil, fmt.Errorf("it is neither PostgreSQL (%w) nor SQLite (%w)", errPostgres, errSQLite)
}
