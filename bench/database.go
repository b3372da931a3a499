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

	_ "github.com/lib/pq"           // the driver postgres
	_ "github.com/mattn/go-sqlite3" // the driver sqlite3

	"github.com/nextrun/nextrun/bench/internal/must"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/postgres" // measured on either database
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// The databases.
const (
	postgres = "PostgreSQL"
	sqlite   = "SQLite"
)

// database is an open one with nextrun's tables, with connections beside it for plain statements.
type database struct {
	*store.DB
	plain plain
	url   string
}

// withPostgres runs fn with a database of its own, and removes it.
func (b *bench) withPostgres(ctx context.Context, fn func(db *database)) {
	address, drop := b.createDatabase(ctx)
	defer drop()
	withTables(ctx, address, plain{sqlite: false, DB: must.Get(sql.Open("postgres", address))}, fn)
}

// createDatabase creates an empty database. drop removes it.
func (b *bench) createDatabase(ctx context.Context) (address string, drop func()) {
	name := "nextrun_bench_" + strings.ToLower(rand.Text()[:12])
	u := must.Get(url.Parse(b.server))
	u.Path = "/" + name
	server := must.Get(sql.Open("postgres", b.server))
	must.Get(server.ExecContext(ctx, "CREATE DATABASE "+name))
	return u.String(), func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_, err := server.ExecContext(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		must.Nil(errors.Join(err, server.Close()))
	}
}

// withSQLite is withPostgres for a file. The plain connection has the settings of those of package store.
func withSQLite(ctx context.Context, fn func(db *database)) {
	dir := must.Get(os.MkdirTemp("", "nextrun-bench"))
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	path := filepath.Join(dir, "q.db")
	beside := must.Get(sql.Open("sqlite3", "file:"+path+
		"?mode=rw&_busy_timeout=5000&_foreign_keys=on&_journal_mode=WAL&_synchronous=FULL&_txlock=immediate&_stmt_cache_size=64"))
	beside.SetMaxOpenConns(1)
	withTables(ctx, "sqlite:"+path, plain{sqlite: true, DB: beside}, fn)
}

func withTables(ctx context.Context, address string, beside plain, fn func(*database)) {
	defer beside.Close() //nolint:errcheck // all is written
	db := must.Get(store.Open(ctx, address, store.Options{Create: true}))
	defer db.Close() //nolint:errcheck // all is written
	must.Get(migrations.Of(db).Up(ctx))
	fn(&database{db, beside, address})
}

// with is withPostgres or withSQLite.
func (b *bench) with(ctx context.Context, kind string, fn func(db *database)) {
	if kind == sqlite {
		withSQLite(ctx, fn)
	} else {
		b.withPostgres(ctx, fn)
	}
}

// now is the time by the database's clock.
func (db *database) now() time.Time { return time.Now().Add(db.ClockSkew()) }

// committed says how long after due the first and the last row of a table were committed, by the server. due is SQL for a
// time with zone.
func committed(ctx context.Context, db *sql.DB, table, due string) values {
	var first, last float64
	must.Nil(db.QueryRowContext(ctx, `SELECT coalesce(extract(epoch FROM min(at - due)) * 1000, 0), coalesce(extract(epoch FROM max(at - due)) * 1000, 0)
		FROM (SELECT pg_xact_commit_timestamp(xmin) AS at, `+due+` AS due FROM `+table+`) AS t`).Scan(&first, &last))
	if first < 0 {
		panic(fmt.Errorf("a row of %s was committed %.1f ms before it was due", table, -first))
	}
	return values{firstJob: first, allJobs: last}
}

// awaitTime waits until a time, or for the end of the process that should run meanwhile, if there is one.
func awaitTime(ctx context.Context, at time.Time, failed <-chan error) {
	select {
	case <-time.After(time.Until(at)):
	case err := <-failed:
		panic(fmt.Errorf("the process ended: %w", err))
	case <-ctx.Done():
		panic(ctx.Err())
	}
}

// awaitRows waits until a table has so many rows.
func awaitRows(ctx context.Context, db *sql.DB, table string, rows int, failed <-chan error) {
	pause := max(20*time.Millisecond, time.Duration(rows)*5*time.Microsecond)
	for late := time.Now().Add(5 * time.Minute); ; awaitTime(ctx, time.Now().Add(pause), failed) {
		var n int
		must.Nil(db.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&n))
		if n >= rows {
			return
		}
		if time.Now().After(late) {
			panic(fmt.Errorf("after five minutes %s has %d of %d rows", table, n, rows))
		}
	}
}
