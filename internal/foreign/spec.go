package foreign

import (
	"context"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Spec is what the framework needs to know of a queue.
type Spec struct {
	Kind string // as in the configuration file
	// check says why the queue cannot take a job, as far as that can be known
	// without the database; empty: it can.
	Check func(jobqueue.Job) string
	// detect looks at the tables and returns the statements for them. Whatever
	// keeps the queue from being used goes into the report; the shape is nil then.
	// An error means that the database could not be asked. It runs inside a
	// savepoint.
	Detect func(ctx context.Context, tx *sqldb.Tx, r *Inspection) (*Shape, error)
	// cancels reports whether shapes have a statement that cancels.
	Cancels bool
	// Retries reports whether shapes have a statement Retry.
	Retries bool
	// Heeds are the columns of a task's priority and limits that reach its jobs.
	Heeds []string
	// Tells reports whether shapes have a statement Ends, and Gone is how a job ended that the
	// tables do not have any more; empty: [sink.EndUnknown].
	Tells bool
	Gone  sink.EndState
	// rehearse lets Inspect run the insert without a job, and take it back.
	Rehearse bool
}

// Shape is a queue as its tables are: the statements that fit them. In a statement,
// {batch} stands for a set of rows in FROM; give it an alias. Placeholders begin
// at $2, since the rows are $1. On SQLite a statement must hold no other $.
//
// If one statement cannot serve all queues of a batch, such as because each is a
// table of its own, set part: statements are run for each part then, with {part}
// replaced by its name, which consists of what [IsIdentifier] allows.
//
// An insert may also return the columns refused, a reason, and passing.
type Shape struct {
	Columns []Column // of the batch that insert reads
	// insert adds the jobs of the batch. It returns the columns jid and ref of
	// those that the queue has taken; ref is its own name for the job, or else the
	// jid. If it returns no columns at all, it has taken all jobs.
	Insert Statement
	// mapped, if there is one, reads a column ref with what insert returned, which
	// need not return a jid then, and returns jid and ref.
	Mapped Statement
	// absent says why the queue has not taken a job that insert did not return.
	// whyAbsent, if there is one, reads the same batch as insert and returns the
	// columns jid, reason and, if the reason may pass, passing.
	Absent        string
	AbsentPassing bool
	WhyAbsent     Statement
	// pending reads rows with the columns ref, jid, task_id, due and submitted, and returns the column ref of those
	// jobs that are not final. It may also return state, one of jobqueue's, and
	// started, a time in UTC. It takes no locks.
	Pending Statement
	// ends reads the same rows, and returns ref and outcome, one of periodic's ends, or NULL
	// for a job that has not ended. It may also return finished, a time in UTC, attempts and
	// error. It takes no locks.
	Ends Statement
	// cancel reads the same rows, and $2, the time. It cancels the jobs that no worker
	// has begun, passes over locked ones, and returns the column ref of those it
	// cancelled.
	Cancel Statement
	// Retry reads the same rows, without ref, and $2, when a job ended. It puts those back that failed or
	// were cancelled then, and returns the column ref.
	Retry Statement
	// notify reads rows with one column, queue: the distinct queues that got jobs.
	// It wakes the workers once the transaction is committed.
	Notify Statement
	// queueOf is the queue that notify gets for a job.
	QueueOf func(jobqueue.Job) string
	// part is the part that a job belongs to, and refPart that of a reference; ref
	// is what pending and cancel get and return in its place. Both may be nil. parts
	// are those that can be used, also those that hold old jobs only, and noPart says why
	// another cannot, and whether that may pass: it may hold unfinished jobs then.
	Part    func(jobqueue.Job) string
	Parts   map[string]bool
	NoPart  func(part string) (reason string, passing bool)
	RefPart func(ref string) (part, inPart string)
	// isRef reports whether a text has the form of a reference. Others, left from
	// another kind of queue, are final. It may be nil.
	IsRef func(ref string) bool
}

// Kind is a kind of queue with its settings, as package queues has them.
type Kind interface {
	// Validate returns an error that names every field that is out of bounds.
	Validate() error
	// Open returns the queue of this kind in a database, and does not use that yet.
	Open(db *sqldb.DB) (Queue, error)
}
