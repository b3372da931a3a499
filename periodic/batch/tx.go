package batch

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Scope says which tasks a query takes.
type Scope struct {
	Sinks   []periodic.Sink // of these, or without a plan yet, which needs no sink; nil: all
	LeftOut []Row           // but not these, until somebody edits them
}

// Row is the row of a task as it was read.
type Row struct{ ID, Version string }

// RowOf is the row that a task was read from.
func RowOf(t *periodic.Task) Row { return Row{t.ID, t.Version} }

// Look says what a scheduler asks about when it looks for work.
type Look struct {
	Scope
	StrayAfter time.Duration // how long a task has to be due before it counts as stray: see [Work.Stray]

	Ask []periodic.Sink // the queues that are asked how their jobs end
	// DrainedUpTo leaves out what fell due up to then: nothing of it was left when the scheduler looked.
	// It saves reading what an old snapshot keeps in the index. Zero: leave out nothing.
	DrainedUpTo time.Time
}

// Work is what a scheduler needs to know to go to work, or to sleep.
type Work struct {
	Now       time.Time // the database's clock
	Asked     time.Time // by the host's clock: Now is not earlier
	Answered  time.Time // by the host's clock: Now is not later
	Due       bool      // there are tasks to decide
	AskEndsAt time.Time // when to ask one of the queues of [Look.Ask] for the ends of jobs; zero: nothing is open
	Stray     bool      // tasks have been due for a while whose overlap is not known, or whose sinks are not among [Scope.Sinks]
	Next      time.Time // the earliest NextRun after Now; zero: none
	Marked    time.Time // the earliest mark; zero: none
}

// AskEnds says which queue to ask for the ends of jobs.
type AskEnds struct {
	Sink    periodic.Sink
	Queue   sink.Submitter
	Hooks   Hooks         // nil: nobody wants to hear of ends
	Limit   int           // jobs at a time
	Timeout time.Duration // of the queue's answer
}

// Ends is what a look for the ends of jobs in other queues has found.
type Ends struct {
	Asked int         // jobs whose turn it was
	Ended []EndedTick // that were not recorded before, by this scheduler
	Bad   []BadEnd    // jobs whose end cannot be read or recorded; they have another turn
	Now   time.Time   // the database's clock
	Next  time.Time   // if none was asked about, when it is the turn of one; zero: no jobs are open
}

// Wanted says which tasks to read.
type Wanted struct {
	Scope
	Limit int
	// Ahead, if not zero, means the tasks that are not due yet but will be within this time. Otherwise those are
	// meant that are due, but for those that wait for the end of a job.
	Ahead time.Duration
	// Unplanned means the tasks that wait for their first plan.
	Unplanned bool
	// Beyond leaves out the tasks up to this one in the order of NextRun and id; without an id, all
	// whose NextRun is not later.
	Beyond Cursor
	Only   []Row // the tasks to choose from by their ids, which may wait for their first plan; nil: all
}

// Cursor is a place in the order of tasks by NextRun and id.
type Cursor struct {
	NextRun time.Time
	TaskID  string
}

// CursorAt is the place of a task.
func CursorAt(t *periodic.Task) Cursor { return Cursor{t.NextRun, t.ID} }

// readTx is what a transaction reads.
type readTx interface {
	// Now is the database's time at the start of the transaction.
	Now() time.Time
	// DBTX runs the statements of a [sink.Submitter].
	DBTX() jobqueue.DBTX
	// Tasks reads tasks that are enabled and unmarked, by NextRun and id, with their calendars and without Args.
	Tasks(ctx context.Context, w Wanted) ([]periodic.Task, error)
	// Ticks returns, by task, what is recorded already from a tick of theirs on, oldest first, at most
	// [periodic.MaxDecided] rows of a task.
	Ticks(ctx context.Context, since []periodic.TickKey) (map[string][]periodic.Range, error)
	// Ended returns, by task, when the job of its last submitted tick ended. Tasks whose job has not, or of
	// which that is not known, are missing.
	Ended(ctx context.Context, ids []string) (map[string]time.Time, error)
}

// Tx is a transaction in which ticks are read and written.
type Tx interface {
	readTx
	oneStatementTx
	// ClearMarks removes the marks that are older than a lease, and those of a worker name: they
	// are that name, or begin with service.WorkerName of it and an @. It returns their number.
	ClearMarks(ctx context.Context, lease time.Duration, name string) (int, error)
	// Advance writes Due, NextRun and Problem of the plans' tasks, and returns the ids of those
	// that it has written. It leaves out tasks whose row is not as it was read, and those that
	// somebody else has locked.
	Advance(ctx context.Context, plans []periodic.Plan) (ids []string, err error)
	// Record changes ticks that were written ahead, and those added in this transaction,
	// to another decision, and adds ticks that do not exist yet. It returns the
	// keys of those that it wrote. All have the same Worker and Decided.
	Record(ctx context.Context, settled, added []periodic.Tick) ([]periodic.TickKey, error)
	// Args returns the args of tasks, of as many of the first ids as have
	// maxBytes together, but of one at least.
	Args(ctx context.Context, ids []string, maxBytes int) (map[string]string, error)
	// SetProblem writes the problem of a task, unless somebody else has locked its
	// row.
	SetProblem(ctx context.Context, id, problem string) error
}

// oneStatementTx is what a transaction can do for plans that are plain.
type oneStatementTx interface {
	// RefreshNow asks for the time again. Now returns it from then on.
	RefreshNow(ctx context.Context) error
	// WarmUp has the database do beforehand what SubmitPlain costs once in a connection.
	WarmUp(ctx context.Context, queue periodic.Queue) error
	// SubmitPlain does for plans that are plain what
	// Advance, Record and Submit of their queue do, with one statement. can is false if the
	// database cannot do that for this queue; then it has done nothing. It returns the tasks that did
	// not advance, or [ErrInTheWay].
	SubmitPlain(ctx context.Context, queue periodic.Queue, plans []periodic.Plan) (missing []string, can bool, err error)
}

// ErrInTheWay is an error of SubmitPlain: the database does not take the tick or the job of one of the plans, which exists
// already, or a job of its task does. The transaction cannot be committed; the methods of single steps pass over such rows.
var ErrInTheWay = errors.New("a tick or a job is in the way")
