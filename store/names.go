package store

import (
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

// The names that a program needs of the packages below.
type (
	// JobStore is the queue of a database: for executors, and for [jobqueue.Queue].
	JobStore interface {
		executor.Store
		jobqueue.QueueStore
	}
	// OutboxStore is the outbox of a database: for relays, and for people.
	OutboxStore interface {
		relay.Source
		outbox.Admin
	}
)

// Sentinel errors. All errors of this package wrap one of them where it
// applies; match with [errors.Is]. Only [ErrRefused] blames a row: any other
// error, known or not, may go away by itself or concerns all rows alike.
var (
	// ErrBusy: somebody else held a lock for longer than the timeout, or the
	// database asked to try the transaction again. Nothing was committed.
	ErrBusy = sqldb.ErrBusy
	// ErrContended: a wait for a row that somebody else has locked, or a
	// statement, was given up after its timeout, or a deadlock or a
	// serialization failure ended the transaction. It is an ErrBusy, too.
	ErrContended = sqldb.ErrContended
	// ErrUnavailable: the database cannot be reached, the connection broke, the
	// disk is full, or the database is a standby. If the connection broke while
	// committing, the transaction may have been committed.
	ErrUnavailable = sqldb.ErrUnavailable
	// ErrNoSchema: a table or a column is not there, or not any more.
	ErrNoSchema = sqldb.ErrNoSchema
	// ErrNotFound: there is no row of that id.
	ErrNotFound = sqldb.ErrNotFound
	// ErrRefused: a row is to blame. A constraint, a trigger or a type refused
	// one of its values, or a value is too large; the message says which.
	ErrRefused = sqldb.ErrRefused
	// ErrDuplicate: a row of that id exists already. It is an ErrRefused, too.
	ErrDuplicate = sqldb.ErrDuplicate
	// ErrUnreadable: a row holds a value of a type that its column should not
	// have, such as NULL. It is an ErrRefused, too.
	ErrUnreadable = sqldb.ErrUnreadable
	// ErrNoDatabase is returned by [Open] when the SQLite file does not exist
	// and Options.Create is not set.
	ErrNoDatabase = sqldb.ErrNoDatabase
)
