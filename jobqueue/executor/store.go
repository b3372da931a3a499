package executor

import (
	"context"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// Store is what an executor needs of a database. Every method is a transaction
// of its own. Every transition in it is fenced: it happens only to a job that
// still has the state and the worker that the caller believes.
type Store interface {
	// LastGroup returns the group that the worker of this name served last,
	// empty if it never did.
	LastGroup(ctx context.Context, name string) (string, error)
	// Sync carries out a request, completely or not at all. If it fails,
	// Result.Chosen names the jobs that it tried to claim; everything else in
	// the result is then of no use.
	Sync(ctx context.Context, request exchange.Request) (exchange.Result, error)
	// Complete ends a job in a transaction of the caller's, who commits it. It returns
	// an error that wraps [jobqueue.ErrLeaseLost] if the job is not that of the attempt any more.
	Complete(ctx context.Context, tx jobqueue.DBTX, c exchange.Completion) error
	// Beat says that the worker lives, and what it does. It returns the beats of the other workers that have
	// jobs, as they are right after its own, without those whose beat is still as in seen because somebody has
	// locked their row.
	Beat(ctx context.Context, who exchange.Service, seen map[string]int64) (others map[string]int64, err error)
	// Leave says that the worker has ended.
	Leave(ctx context.Context, worker string) error
	// CancelRequests lists the worker's jobs that somebody asked to cancel.
	CancelRequests(ctx context.Context, worker string) ([]string, error)
	// Overdue lists the jobs of dead workers, and those whose time has come. Rows
	// that somebody else has locked are not among them.
	Overdue(ctx context.Context, query exchange.OverdueQuery) (exchange.Overdue, error)
	// Fault says what an error of this store means for the rows of a request.
	Fault(err error) Fault
	// WatchJobs calls wake whenever jobs may have been added or cancelled, until
	// ctx ends. It calls report on failures, and retries.
	WatchJobs(ctx context.Context, wake func(), report func(error))
}

// Fault says what is to blame for an error of a [Store]: a row, a lock, or the database.
type Fault = service.Fault
