package queues

import (
	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// Kind is a kind of queue with its settings: a value of one of the types of this
// package. Its fields are checked when it is opened; an invalid one is an error that
// names it.
type Kind interface {
	// Validate returns an error that names every field that is out of bounds. It
	// needs no database.
	Validate() error
	// Open returns the queue of this kind in a database. It does not use the
	// database yet. Programs call the method Queue of package store instead.
	Open(db *sqldb.DB) (Queue, error)
	// Grants returns statements that give roles of PostgreSQL, separated by commas, what
	// a scheduler needs in the queue's tables; nil if these are not known. It needs no
	// database.
	Grants(roles string) []string
	sealed()
}

type (
	// Queue is an opened queue: a submitter of periodic tasks that can say how it
	// finds its tables, and has a trigger that ends the wait for its jobs.
	Queue = foreign.Queue
	// Inspector says whether a queue can be used, and what it lacks.
	Inspector = foreign.Inspector
	// Auditor compares the jobs of a queue with the ticks that were submitted to it.
	Auditor = foreign.Auditor
	// AuditBounds are the limits of an audit.
	AuditBounds = foreign.AuditBounds
	// AuditRow is a task with what is wrong about it.
	AuditRow = foreign.AuditRow
)

var (
	// ErrUnusable is wrapped by errors about a queue that takes no jobs: its tables are
	// missing or too old, or this role lacks a right. No row is to blame.
	ErrUnusable = foreign.ErrUnusable
	// ErrNoTrigger is wrapped by errors about a queue whose jobs end in a way that no
	// trigger can see.
	ErrNoTrigger = foreign.ErrNoTrigger
)
