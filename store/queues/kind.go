package queues

import (
	"context"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/store/internal/sqldb"
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
	sealed()
}

// Queue is an opened queue: a submitter of periodic tasks that can say how it finds
// its tables.
type Queue interface {
	backend.Submitter
	Inspector
	// EndTrigger returns a trigger for the jobs of a sink, or [ErrNoTrigger].
	EndTrigger(ctx context.Context, sink string) (EndTrigger, error)
}

// Inspector says whether a queue can be used, and what it lacks.
type Inspector interface {
	// Inspect looks at the tables of the queue. It changes nothing. What is wrong
	// with the queue is in the report; an error means that the database could not
	// be asked.
	Inspect(ctx context.Context) (Report, error)
}
