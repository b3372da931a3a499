package jobqueue

import (
	"context"
	"time"
)

// QueueStore is what a [Queue] needs of a database.
type QueueStore interface {
	// Update runs fn in a transaction, and commits it unless fn returns an error.
	Update(ctx context.Context, fn func(QueueTx) error) error
	// View runs fn in a transaction that only reads.
	View(ctx context.Context, fn func(QueueTx) error) error
	// Join returns the operations inside the caller's transaction.
	Join(ctx context.Context, tx DBTX) (QueueTx, error)
	// Prune deletes the jobs that a filter selects, and their logs. It returns how many it
	// has deleted, also beside an error. Rows that cannot be deleted cost the others nothing,
	// unless it runs inside a transaction of the caller's.
	Prune(ctx context.Context, filter PruneFilter) (int, error)
}

// QueueTx are the operations of a queue inside one transaction.
type QueueTx interface {
	Prune(ctx context.Context, filter PruneFilter) (int, error) // as of a [QueueStore]
	Job(ctx context.Context, jid string) (Job, error)
	Jobs(ctx context.Context, filter Filter) ([]Job, error)
	Lines(ctx context.Context, filter LogFilter) ([]LogLine, error)
	// PendingSingle returns the pending single job of a tracker, "" if none.
	PendingSingle(ctx context.Context, tracker string) (string, error)
	// Insert adds jobs to the queue; it returns those that were refused because
	// a single job of their tracker is pending.
	Insert(ctx context.Context, jobs []Job) (refused []string, err error)
	// Change carries out one fenced transition: only if the job is as it was
	// read. It reports whether it was.
	Change(ctx context.Context, was Job, change Change) (bool, error)
	SetLimit(ctx context.Context, limit Limit) error
	DropLimit(ctx context.Context, scope Scope) (bool, error)
	Limits(ctx context.Context) ([]Limit, error)
}

// Change is a transition that somebody asked for.
type Change struct {
	To   State  // Waiting makes the job as good as new; Cancelled ends it; empty: it stays, and sets the column cancel
	Note string // for the job log; empty: none
}

// Filter selects jobs. Empty fields select all.
type Filter struct {
	States  []State
	Group   string
	Task    string
	Tracker string
	Worker  string // a worker's name, or name@boot id
	Part    string // of the job's id
	Limit   int    // at most so many; 0: [DefaultListLimit]

	Since time.Time // submitted at that time or later; zero: whenever
	Until time.Time // submitted before that time; zero: whenever
	Ended time.Time // ended at that time or later, those that ended last first; zero: whenever, or not yet

	WithArgs bool // read the args, too, which may be large
}

// LogFilter selects lines of a job's log, oldest first.
type LogFilter struct {
	JID   string
	After int64 // only lines whose Counter is greater: the last one seen
	Limit int   // at most so many; 0: [DefaultListLimit]
}

// LogLine is a line of a job's log as the table has it.
type LogLine struct {
	Counter int64 // rises along the log of a job
	Created time.Time
	Level   Level
	Message string
}

// PruneFilter selects final jobs to delete.
type PruneFilter struct {
	OlderThan time.Duration // finished longer ago than that, by the database's clock
	States    []State       // of these final states; empty: all
}
