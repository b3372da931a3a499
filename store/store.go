package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store/internal/connect"
	"github.com/nextrun/nextrun/store/internal/events"
	"github.com/nextrun/nextrun/store/internal/jobs"
	"github.com/nextrun/nextrun/store/internal/locks"
	"github.com/nextrun/nextrun/store/internal/tasks"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	held
	db     *sqldb.DB
	queues tasks.Queues
}

// Open opens the database that a URL names, `sqlite:PATH` or `postgres://...`,
// and makes a first connection. Neither errors nor [DB.URL] show a password.
// Close it after use. The program imports the driver:
//
//	import _ "github.com/nextrun/nextrun/store/postgres" // lib/pq
//	import _ "github.com/nextrun/nextrun/store/sqlite"   // go-sqlite3, which needs cgo
func Open(ctx context.Context, databaseURL string, options Options) (*DB, error) {
	db, err := connect.Open(ctx, databaseURL, sqldb.Options(options))
	if err != nil {
		return nil, err
	}
	return over(db), nil
}

// New returns the database of a pool that the program has opened: PostgreSQL with
// lib/pq or pgx's stdlib, SQLite with go-sqlite3 or another driver that brings SQLite
// 3.51 or newer. It finds out which. The pool stays the program's: [DB.Close] leaves
// it open, and its limits count.
//
// Of the options Create, ConnectTimeout and MaxConns are of no use here. What [Open]
// does for its own connections is the program's duty here. On PostgreSQL:
//
//   - The pool needs a few connections at a time; ten are good.
//   - A connection on which the server falls silent is noticed by the system only, on Linux
//     after up to 15 minutes, or what net.ipv4.tcp_retries2 says. A dialer of the driver can set
//     TCP_USER_TIMEOUT. Timeouts of statements are set in each transaction.
//   - There are no notifications without [Options.ListenURL], for which the program imports
//     store/postgres. Without it a scheduler, an executor and a relay of this DB wake each
//     other, and what its Tasks, Queue and transactions change wakes them, but changes of
//     other processes, and of transactions of the program's own, are noticed at the next
//     poll; see PollInterval of each.
//   - With lib/pq, binary_parameters=yes saves a round trip for each statement. With pgx
//     behind a transaction pooler, default_query_exec_mode=exec keeps no statement there.
//
// On SQLite, New returns an error that names what is missing:
//
//   - The database is a file, in WAL mode, and every connection has foreign_keys on and
//     a busy_timeout. Set them in the DSN: a PRAGMA reaches one connection only.
//   - The pool is not limited to fewer than ten connections, since some stay in use to
//     watch for changes.
//   - synchronous should be FULL, the default: with NORMAL a power failure may undo
//     commits, and their jobs run again. New does not check this.
//   - A file that is replaced while it is open is not noticed.
func New(ctx context.Context, pool *sql.DB, options Options) (*DB, error) {
	db, err := connect.Adopt(ctx, pool, sqldb.Options(options))
	if err != nil {
		return nil, err
	}
	return over(db), nil
}

type held = sqldb.Held

func over(db *sqldb.DB) *DB {
	return &DB{held: sqldb.Hold(db), db: db, queues: tasks.Queues{
		periodic.SinkJob:   tasks.NewJobSink(db),
		periodic.SinkEvent: events.NewSink(db),
	}}
}

// Close closes the connections that [Open] made. The pool of [New] stays open.
func (db *DB) Close() error { return db.db.Close() }

// URL is the database's URL without its password. After [New] it names the database
// or the file only.
func (db *DB) URL() string { return db.db.URL() }

// Version is the version of the PostgreSQL server, or of the SQLite library in
// this program, such as 15.14 or 3.51.3.
func (db *DB) Version(ctx context.Context) (string, error) { return db.db.Version(ctx) }

// Ping checks that the database answers.
func (db *DB) Ping(ctx context.Context) error { return db.db.Ping(ctx) }

// ClockSkew is how far the database's clock is ahead of the host's, as last
// measured; 0 on SQLite, which uses the host's. Its error is at most half the
// time that a query takes.
func (db *DB) ClockSkew() time.Duration { return db.db.ClockSkew() }

// Migrations are the pool in which migrations run, and the name of the database system. It
// is for migrations.Of.
func (db *DB) Migrations() (pool *sql.DB, system string) {
	return db.db.Migrations()
}

// Periodic returns the database as the scheduler's store.
func (db *DB) Periodic() scheduler.Store {
	return periodicStore{tasks.New(db.db, db.queues, locks.New(db.db)), db}
}

// Tasks returns the database as the store of [periodic.Tasks].
func (db *DB) Tasks() periodic.TaskStore { return tasks.NewTasks(db.db, db.queues) }

// Jobs returns the queue of the database.
func (db *DB) Jobs() JobStore { return jobs.New(db.db) }

// Outbox returns the outbox of the database.
func (db *DB) Outbox() OutboxStore { return events.New(db.db) }

// EventsIn returns a transaction of the caller's on the same database, such as
// a *sql.Tx, as one that [outbox.AppendTx] takes.
func (db *DB) EventsIn(ctx context.Context, tx jobqueue.DBTX) (outbox.Tx, error) {
	joined, err := db.db.Join(ctx, tx)
	return &Tx{joined}, err
}

// Tx is a transaction of [DB.Update] or [DB.View]. It carries one now.
// [outbox.AppendTx] takes it. It is not safe for concurrent use.
type Tx struct{ tx *sqldb.Tx }

var _ outbox.Tx = (*Tx)(nil)

// Now is the database's time at the start of the transaction: UTC,
// microseconds.
func (tx *Tx) Now() time.Time { return tx.tx.Now() }

// AppendEvents implements [outbox.Tx]; use [outbox.AppendTx], which checks the
// events.
func (tx *Tx) AppendEvents(ctx context.Context, list []outbox.Event) ([]outbox.Event, error) {
	return events.Append(ctx, tx.tx, list)
}

// Update runs fn in a transaction that may write, and commits it unless fn
// returns an error. On SQLite it holds the write lock from the start.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	return db.db.Update(ctx, func(tx *sqldb.Tx) error {
		tx.Changes(sqldb.TopicTasks, sqldb.TopicJobs, sqldb.TopicEvents)
		return fn(&Tx{tx})
	})
}

// View runs fn in a transaction that only reads.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	return db.db.View(ctx, func(tx *sqldb.Tx) error { return fn(&Tx{tx}) })
}
