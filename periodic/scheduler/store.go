package scheduler

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
)

// Store is the database as a scheduler needs it; package store implements it.
// It must be safe for concurrent use.
type Store interface {
	Watcher
	Queues
	// Read runs fn in a transaction that only reads.
	Read(ctx context.Context, fn func(batch.Tx) error) error
	// Update runs fn in a transaction and commits it unless fn fails. It waits
	// for a row that somebody else has locked as long as wait says.
	Update(ctx context.Context, wait time.Duration, fn func(batch.Tx) error) error
	// Poll reads what there is to do.
	Poll(ctx context.Context, look batch.Look) (batch.Work, error)
	// OpensEarly reports whether a transaction that is open keeps nobody from writing, so that it
	// may begin a moment before its time.
	OpensEarly() bool
	// Rows returns the rows of the tasks that Tx.Tasks would read. No value of a row can make it fail.
	Rows(ctx context.Context, w batch.Wanted) ([]batch.Row, error)
	// PauseFailing pauses the tasks that are due, and whose jobs have failed as often in a row as their PauseAfter
	// says. hooks hear of it; nil: nobody does.
	PauseFailing(ctx context.Context, hooks batch.Hooks) error
	// Prune deletes what is older than keep says, and what nobody needs any more. What cannot be deleted
	// keeps nothing else; the error names it.
	Prune(ctx context.Context, keep Retention) (Pruned, error)
	// Locks keeps the lock of the modes leader and exclusive.
	Locks() leader.Store

	// Fault says what to blame for an error of the store.
	Fault(err error) service.Fault
}

// Queues is what a scheduler asks about queues, those that are not nextrun's own most of all.
type Queues interface {
	// Queues returns the built-in queues, and the given ones by their names.
	Queues(others periodic.Submitters) map[periodic.Sink]periodic.Queue
	// AskEnds asks a queue how some of its jobs ended, records that, and tells the hooks in the
	// same transaction. However many jobs are open, that is one statement in nextrun's tables
	// and one in those of the queue, and a few more if jobs have ended.
	AskEnds(ctx context.Context, a batch.AskEnds) (batch.Ends, error)
	// Stray sets the problem of tasks that have been due for a while and whose sinks are
	// not known, or cannot be used, or whose overlap is not known, and returns some of them.
	Stray(ctx context.Context, after time.Duration, known []periodic.Sink, problem func(*periodic.Task) string) ([]periodic.Task, error)
}

// Watcher tells of changes.
type Watcher interface {
	// Watch calls wake whenever tasks may have changed, until ctx ends. It
	// reports failures and goes on. Meanwhile the worker is shown to live; an empty one is nobody.
	Watch(ctx context.Context, worker string, wake func(), report func(error))
	// SetTrouble publishes the error that keeps a worker that watches from its work, for
	// those who ask why; empty: there is none.
	SetTrouble(ctx context.Context, worker, trouble string) error
}
