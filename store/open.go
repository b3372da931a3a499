package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/nextrun/nextrun/migrations"
)

// Defaults of [Options].
const (
	DefaultConnectTimeout   = 10 * time.Second
	DefaultStatementTimeout = 20 * time.Second
	DefaultLockTimeout      = 5 * time.Second
	DefaultIdleTimeout      = 10 * time.Second
	DefaultMaxConns         = 10
)

// Options are the settings of [Open]. The zero value is good.
type Options struct {
	// Create makes a SQLite file that does not exist. Without it [Open] returns
	// [ErrNoDatabase].
	Create bool
	// ConnectTimeout limits how long making a connection may take (PostgreSQL).
	// 0: [DefaultConnectTimeout].
	ConnectTimeout time.Duration
	// StatementTimeout limits each statement (PostgreSQL). It must stay well
	// below the lease of a mark and the TTL of the scheduler lock.
	// 0: [DefaultStatementTimeout].
	StatementTimeout time.Duration
	// LockTimeout limits the wait for a lock: of a row on PostgreSQL, of the
	// file on SQLite. 0: [DefaultLockTimeout].
	LockTimeout time.Duration
	// IdleTimeout ends transactions in which nothing happens, such as those of
	// a process that was stopped (PostgreSQL). 0: [DefaultIdleTimeout].
	IdleTimeout time.Duration
	// MaxConns limits the connections to PostgreSQL, without the one that
	// listens. SQLite has one writer and up to that many readers.
	// 0: [DefaultMaxConns].
	MaxConns int
	// PollOnly gives up notifications (PostgreSQL): for transaction poolers,
	// through which LISTEN does not work. Changes are then noticed at the next
	// poll.
	PollOnly bool
	// Clock is what transactions on SQLite take for now; PostgreSQL has a clock
	// of its own. nil: time.Now. Tests set it.
	Clock func() time.Time
}

func (o Options) withDefaults() Options {
	setDuration := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	setDuration(&o.ConnectTimeout, DefaultConnectTimeout)
	setDuration(&o.StatementTimeout, DefaultStatementTimeout)
	setDuration(&o.LockTimeout, DefaultLockTimeout)
	setDuration(&o.IdleTimeout, DefaultIdleTimeout)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.MaxConns == 0 {
		o.MaxConns = DefaultMaxConns
	}
	return o
}

func (o Options) validate() error {
	for name, d := range map[string]time.Duration{
		"ConnectTimeout": o.ConnectTimeout, "StatementTimeout": o.StatementTimeout,
		"LockTimeout": o.LockTimeout, "IdleTimeout": o.IdleTimeout,
	} {
		if d < 0 || d > time.Hour {
			return fmt.Errorf("store.Options.%s is %s; use 0 (the default) to 1h", name, d)
		}
	}
	if o.MaxConns < 0 || o.MaxConns > 1000 {
		return fmt.Errorf("store.Options.MaxConns is %d; use 0 (the default) to 1000", o.MaxConns)
	}
	return nil
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	dialect  dialect
	location location
	options  Options
	write    *sqlx.DB // SQLite: one connection, transactions are immediate
	read     *sqlx.DB // PostgreSQL: the same pool
	migrate  *sql.DB  // SQLite: that of write
	file     *sqliteFile
	skew     skew
}

// Open opens the database that a URL names, `sqlite:PATH` or `postgres://...`,
// and makes a first connection. Neither errors nor [DB.URL] show a password.
// Close it after use.
func Open(ctx context.Context, databaseURL string, options Options) (*DB, error) {
	l, err := parseURL(databaseURL)
	if err != nil {
		return nil, err
	}
	if err := options.validate(); err != nil {
		return nil, err
	}
	db := &DB{location: l, options: options.withDefaults()}
	if l.sqlite != "" {
		err = db.openSQLite()
	} else {
		err = db.openPostgres()
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", l.redacted(), l.scrub(err))
	}
	if err := db.Ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", l.redacted(), l.scrub(err)), db.Close())
	}
	return db, nil
}

// URL is the database's URL without its password.
func (db *DB) URL() string { return db.location.redacted() }

// Version is the version of the PostgreSQL server, or of the SQLite library in
// this program, such as 15.14 or 3.51.3.
func (db *DB) Version(ctx context.Context) (string, error) {
	var version string
	err := db.View(ctx, func(tx *Tx) error { return tx.get(ctx, &version, db.dialect.version()) })
	version, _, _ = strings.Cut(version, " ") // PostgreSQL adds the name of the distribution
	return version, err
}

// Ping checks that the database answers.
func (db *DB) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, db.options.ConnectTimeout+db.options.LockTimeout)
	defer cancel()
	return db.classify(ctx, db.write.PingContext(ctx))
}

// Close closes all connections.
func (db *DB) Close() error {
	err := db.write.Close()
	if db.read != db.write {
		err = errors.Join(err, db.read.Close())
	}
	if db.migrate != db.write.DB {
		err = errors.Join(err, db.migrate.Close())
	}
	if db.file != nil {
		err = errors.Join(err, db.file.close())
	}
	return err
}

// Migrator returns the migrations of this database.
func (db *DB) Migrator() *migrations.Migrator {
	return migrations.New(db.migrate, db.dialect.name())
}
