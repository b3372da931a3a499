package periodic

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/leader"
)

// Store is the database as the scheduler needs it; package store implements it.
// It must be safe for concurrent use.
type Store interface {
	// Update runs fn in a transaction and commits it unless fn fails.
	Update(ctx context.Context, fn func(Tx) error) error
	// Peek looks at what is to do, without changing tasks.
	Peek(ctx context.Context) (Peek, error)
	// Watch calls wake whenever tasks may have changed, until ctx ends. It
	// reports failures and goes on.
	Watch(ctx context.Context, wake func(), report func(error))
	// Submitters returns the built-in submitters.
	Submitters() map[Sink]Submitter
	// Locks keeps the lock of the modes leader and exclusive.
	Locks() leader.Store
	// Contended reports whether an error is a wait for a lock, or a statement,
	// that was given up after its time limit. Such an error is transient, too.
	Contended(err error) bool
	// Transient reports whether an error is one of the database as a whole, so
	// that the same work may succeed later, and not one of a row in it.
	Transient(err error) bool
}

// Peek is what a scheduler that has nothing in hand needs to know.
type Peek struct {
	Now    time.Time // the database's clock
	Due    bool      // there are tasks to claim
	Next   time.Time // when to look again: the earliest NextRun after Now of tasks that could be claimed, or sooner; zero: none
	Marked time.Time // the earliest mark; zero: none
}

// Tx is a transaction of a [Store].
type Tx interface {
	// Now is the database's time at the start of the transaction.
	Now() time.Time
	// DBTX runs the statements of a [Submitter].
	DBTX() jobqueue.DBTX
	// ClearMarks removes the marks of a worker name, if it is not empty, and all
	// that are older than the lease. It returns their number.
	ClearMarks(ctx context.Context, worker string, lease time.Duration) (int, error)
	// Unmark removes one mark from the tasks that still have it. It returns how
	// many of them keep it, since somebody else has their rows locked.
	Unmark(ctx context.Context, mark string) (left int, err error)
	// Claim marks up to limit tasks that are enabled, unmarked and due, and
	// returns them, without Args: first those whose NextRun has come, earliest
	// first, then unplanned ones, then those with a queued tick and no pending
	// job. Rows that others have locked are passed over.
	Claim(ctx context.Context, mark string, limit int) ([]Task, error)
	// QueuedTicks returns the due times of the queued ticks of tasks, oldest first.
	QueuedTicks(ctx context.Context, ids []string) (map[string][]time.Time, error)
	// DecidedTicks returns, by task, what is recorded already from a tick on,
	// oldest first; of more than [MaxDecided] rows of a task only the newest.
	DecidedTicks(ctx context.Context, from []TickKey) (map[string][]TickRange, error)
	// Advance writes Due, NextRun and Problem of the plans' tasks that still
	// have the mark, removes it, and returns the ids of those tasks.
	Advance(ctx context.Context, mark string, plans []Plan) ([]string, error)
	// AddTicks adds the ticks that do not exist yet and returns their keys. Here
	// and in SettleTicks all have the same Worker and Decided.
	AddTicks(ctx context.Context, ticks []Tick) ([]TickKey, error)
	// SettleTicks changes ticks that are queued, and those added in this
	// transaction, to another decision and returns their keys.
	SettleTicks(ctx context.Context, ticks []Tick) ([]TickKey, error)
	// Args returns the args of tasks, of as many of the first ids as have
	// maxBytes together, but of one at least.
	Args(ctx context.Context, ids []string, maxBytes int) (map[string]string, error)
}

// Submitter puts the jobs of due tasks into a queue, in the scheduler's
// transaction. There is one for each [Sink].
type Submitter interface {
	// Pending returns, by tracker, a job of each tracker that is not final.
	Pending(ctx context.Context, tx jobqueue.DBTX, trackers []string) (map[string]Pending, error)
	// Submit adds the jobs. It returns the ids of those that it refused, such as
	// because a job of that tracker is not final; any other failure is an error,
	// which rolls the transaction back.
	Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) (refused []string, err error)
}

// ArgsCopier is a [Submitter] that reads args from periodic_task by the
// tracker of a job itself, so that they need not travel. Jobs are given to
// other submitters with their args, at most 500 or 8 MiB at a time.
type ArgsCopier interface{ CopiesArgs() }

// Canceller is a [Submitter] whose jobs the policy [OverlapReplace] can cancel:
// at once where no worker has them yet, else by asking the worker.
type Canceller interface {
	Cancel(ctx context.Context, tx jobqueue.DBTX, jids []string, now time.Time) error
}

// Pending is a job that is not final.
type Pending struct {
	JID     string
	State   jobqueue.State
	Due     time.Time // the tick it is for; zero: none
	Started time.Time // zero: it has not
}
