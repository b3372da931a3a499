package replay

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	_ "github.com/nextrun/nextrun/store/postgres" // the driver
	_ "github.com/nextrun/nextrun/store/sqlite"   // the driver
)

// open returns a pool of an empty database, and a function that closes the pool and
// removes the database.
func open(ctx context.Context, o Options) (pool *sql.DB, remove func() error, err error) {
	if o.Postgres == "" {
		return openSQLite(o.Dir)
	}
	return openPostgres(ctx, o.Postgres)
}

// openSQLite makes a file that needs to survive no power failure.
func openSQLite(dir string) (*sql.DB, func() error, error) {
	if dir == "" {
		return nil, nil, errors.New("replay.Options: give Dir, a directory for the SQLite file, or Postgres, the URL of a database")
	}
	file := url.URL{Scheme: "file", Path: filepath.Join(dir, "replay-"+random()+".db"), RawQuery: "_journal_mode=WAL&_synchronous=OFF" +
		"&_foreign_keys=on&_busy_timeout=10000&_txlock=immediate&_stmt_cache_size=64"}
	pool, err := sql.Open("sqlite3", file.String())
	if err != nil {
		return nil, nil, fmt.Errorf("this program was built without SQLite; build it with cgo, or use PostgreSQL: %w", err)
	}
	pool.SetMaxIdleConns(4)
	return pool, pool.Close, nil // the directory is the caller's
}

// openPostgres makes a schema.
func openPostgres(ctx context.Context, address string) (*sql.DB, func() error, error) {
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		return nil, nil, errors.New("replay.Options.Postgres: want a URL such as postgres://user:password@host/database")
	}
	schema := "nextrun_replay_" + random()
	query := u.Query()
	query.Set("search_path", schema)
	if !query.Has("binary_parameters") {
		query.Set("binary_parameters", "yes")
	}
	u.RawQuery = query.Encode()
	pool, err := sql.Open("postgres", u.String())
	if err != nil {
		return nil, nil, err
	}
	pool.SetMaxOpenConns(8)
	if _, err := pool.ExecContext(ctx, "CREATE SCHEMA "+schema); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("make a schema for the replay: %w", err), pool.Close())
	}
	return pool, func() error {
		_, err := pool.ExecContext(context.WithoutCancel(ctx), "DROP SCHEMA "+schema+" CASCADE")
		return errors.Join(err, pool.Close())
	}, nil
}

func random() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
