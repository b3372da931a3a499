package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/jmoiron/sqlx"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/migrations"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	dialect  dialect
	words    Words
	location location
	options  Options
	write    *sqlx.DB // SQLite: one connection, transactions are immediate
	read     *sqlx.DB // PostgreSQL: the same pool
	migrate  *sql.DB  // SQLite: that of write
	shown    string   // instead of the location, where that is not known
	// beginTx begins a transaction.
	beginTx func(ctx context.Context, readOnly bool) (transaction, error)
	closers []func() error // nothing of an adopted pool
	skew    skew
	outage  service.Outage
	hasJobs atomic.Bool // false: not known
}

// Open opens the database that a URL names, `sqlite:PATH` or `postgres://...`,
// and makes a first connection. Neither errors nor [DB.URL] show a password.
// Close it after use.
func Open(ctx context.Context, databaseURL string, options Options) (*DB, error) {
	l, err := parseURL(databaseURL)
	if err != nil {
		return nil, err
	}
	if err := options.Validate(); err != nil {
		return nil, err
	}
	db := &DB{location: l, options: options.withDefaults()}
	db.beginTx = db.beginOnPool
	if l.sqlite != "" {
		err = db.openSQLite()
	} else {
		err = db.openPostgres()
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", l.redacted(), l.scrub(err))
	}
	db.words = db.dialect.words()
	if err := db.reach(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", l.redacted(), l.scrub(err)), db.Close())
	}
	return db, nil
}

// reach makes a first connection, and finds the schema.
func (db *DB) reach(ctx context.Context) error {
	if err := db.Ping(ctx); err != nil {
		return err
	}
	return db.findSchema(ctx)
}

// URL is the database's URL without its password.
func (db *DB) URL() string {
	if db.shown != "" {
		return db.shown
	}
	return db.location.redacted()
}

// Version is the version of the PostgreSQL server, or of the SQLite library in
// this program, such as 15.14 or 3.51.3.
func (db *DB) Version(ctx context.Context) (string, error) {
	var version string
	err := db.View(ctx, func(tx *Tx) error { return tx.First(ctx, &version, db.words.version) })
	version, _, _ = strings.Cut(version, " ") // PostgreSQL adds the name of the distribution
	return version, err
}

// Ping checks that the database answers.
func (db *DB) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, db.options.ConnectTimeout+db.options.LockTimeout)
	defer cancel()
	return db.classify(ctx, db.write.PingContext(ctx))
}

// Close closes the connections that [Open] made.
func (db *DB) Close() error {
	var err error
	for _, closer := range db.closers {
		err = errors.Join(err, closer())
	}
	return err
}

// Migrator returns the migrations of this database.
func (db *DB) Migrator() *migrations.Migrator {
	return migrations.New(db.migrate, db.words.dialect)
}

// HasJobs reports whether the database has the tables of jobs. A database that was
// made without them may get them later, so only a yes is remembered.
func (db *DB) HasJobs(ctx context.Context, tx jobqueue.DBTX) (bool, error) {
	if db.hasJobs.Load() {
		return true, nil
	}
	var without bool
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM nextrun_found WHERE name = '"+migrations.WithoutJobs+"')").Scan(&without)
	if err != nil {
		return false, db.classify(ctx, err)
	}
	db.hasJobs.Store(!without)
	return !without, nil
}

// askForJobs finds out on a connection of nextrun's own whether the database has the
// tables of jobs, so that the caller's transaction, whose role may have fewer rights,
// need not. If it cannot find out, the transaction will.
func (db *DB) askForJobs(ctx context.Context) {
	if len(db.closers) == 0 || db.hasJobs.Load() {
		return // the pool is the caller's, who may hold its last connection
	}
	_ = db.View(ctx, func(tx *Tx) error { _, err := db.HasJobs(ctx, tx.tx); return err })
}

// NeedJobs returns [ErrNoJobs] if the database has no tables of jobs.
func (db *DB) NeedJobs(ctx context.Context, tx jobqueue.DBTX) error {
	has, err := db.HasJobs(ctx, tx)
	if err == nil && !has {
		err = ErrNoJobs
	}
	return err
}

// SQL are the words in which the databases differ.
func (db *DB) SQL() Words { return db.words }

// Rebind turns the placeholders $1, $2, ... into the driver's.
func (db *DB) Rebind(query string) string { return db.dialect.rebind(query) }

// Clock is SQL for the current time, read when the expression is evaluated, plus
// ($at - $now), where now and at number two parameters and $now is the
// transaction's now.
func (db *DB) Clock(now, at int) string { return db.dialect.clock(now, at) }

// Watch calls wake whenever rows of these topics may have changed, until ctx
// ends. It reports failures, and retries.
func (db *DB) Watch(ctx context.Context, wake func(), report func(error), topics ...Topic) {
	db.dialect.watch(ctx, topics, wake, func(err error) {
		// The connection that watches may fail although the database works.
		if err = db.classify(ctx, err); errors.Is(err, ErrUnavailable) && db.Ping(ctx) != nil && ctx.Err() == nil {
			err = db.outage.Failed(err, false)
		}
		report(err)
	})
}
