package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/lib/pq" // the driver postgres

	"github.com/nextrun/nextrun/bench/internal/measure"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

// withPostgres runs fn with a PostgreSQL database of its own that has nextrun's tables, and removes it.
func (b *bench) withPostgres(ctx context.Context, fn func(url string, db *measure.DB) error) error {
	url, drop, err := b.createDatabase(ctx)
	if err != nil {
		return err
	}
	return errors.Join(withTables(ctx, url, fn), drop())
}

// createDatabase creates an empty database. drop removes it.
func (b *bench) createDatabase(ctx context.Context) (address string, drop func() error, err error) {
	name := "nextrun_bench_" + strings.ToLower(rand.Text()[:12])
	u, err := url.Parse(b.server)
	if err != nil {
		return "", nil, errors.New("NEXTRUN_TEST_POSTGRES is no URL")
	}
	u.Path = "/" + name
	return u.String(), func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		return execute(ctx, b.server, "DROP DATABASE "+name+" WITH (FORCE)")
	}, execute(ctx, b.server, "CREATE DATABASE "+name)
}

// withSQLite is withPostgres for a file.
func withSQLite(ctx context.Context, fn func(url string, db *measure.DB) error) error {
	dir, err := os.MkdirTemp("", "nextrun-bench")
	if err != nil {
		return err
	}
	return errors.Join(withTables(ctx, "sqlite:"+filepath.Join(dir, "q.db"), fn), os.RemoveAll(dir))
}

func withTables(ctx context.Context, url string, fn func(string, *measure.DB) error) (err error) {
	db, err := measure.Open(ctx, url, store.Options{Create: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := migrations.Of(db).Up(ctx); err != nil {
		return err
	}
	return fn(url, db)
}

// with is withPostgres or withSQLite.
func (b *bench) with(ctx context.Context, database string, fn func(url string, db *measure.DB) error) error {
	if database == sqlite {
		return withSQLite(ctx, fn)
	}
	return b.withPostgres(ctx, fn)
}

// The databases.
const (
	postgres = "PostgreSQL"
	sqlite   = "SQLite"
)

// execute runs statements on a PostgreSQL database.
func execute(ctx context.Context, url string, statements ...string) error {
	return onPostgres(url, func(db *sql.DB) error {
		for _, s := range statements {
			if _, err := db.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%w in %s", err, s)
			}
		}
		return nil
	})
}

func onPostgres(url string, fn func(*sql.DB) error) (err error) {
	db, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return fn(db)
}

// query returns the only row of a PostgreSQL database, of numbers.
func query(ctx context.Context, url, statement string, into ...any) error {
	return onPostgres(url, func(db *sql.DB) error {
		if err := db.QueryRowContext(ctx, statement).Scan(into...); err != nil {
			return fmt.Errorf("%w in %s", err, statement)
		}
		return nil
	})
}

// committed says how long after due the first and the last row of a table were committed, by the server. due is SQL for a
// time with zone.
func committed(ctx context.Context, url, table, due string) (values, error) {
	var first, last float64
	err := query(ctx, url, `SELECT coalesce(extract(epoch FROM min(at - due)) * 1000, 0), coalesce(extract(epoch FROM max(at - due)) * 1000, 0)
		FROM (SELECT pg_xact_commit_timestamp(xmin) AS at, `+due+` AS due FROM `+table+`) AS t`, &first, &last)
	if err == nil && first < 0 {
		err = fmt.Errorf("a row of %s was committed %.1f ms before it was due", table, -first)
	}
	return values{firstJob: first, allJobs: last}, err
}

// awaitTime waits until a time, or for the end of the process that should run meanwhile, if there is one.
func awaitTime(ctx context.Context, at time.Time, failed <-chan error) error {
	select {
	case <-time.After(time.Until(at)):
		return nil
	case err := <-failed:
		return fmt.Errorf("the process ended: %w", err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitRows waits until a table has so many rows.
func awaitRows(ctx context.Context, url, table string, rows int, failed <-chan error) error {
	pause := max(20*time.Millisecond, time.Duration(rows)*5*time.Microsecond)
	late := time.After(2 * time.Minute)
	return onPostgres(url, func(db *sql.DB) error {
		for {
			var n int
			if err := db.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&n); err != nil {
				return err
			}
			if n >= rows {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case err := <-failed:
				return fmt.Errorf("the process ended: %w", err)
			case <-late:
				return fmt.Errorf("after two minutes %s has %d of %d rows", table, n, rows)
			case <-time.After(pause):
			}
		}
	})
}
