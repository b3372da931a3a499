// Package taskdb is what the scheduler asks of a database; package store implements it.
package taskdb

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/leader"
)

// Store is the database as the scheduler needs it; package store implements it.
// It must be safe for concurrent use.
type Store interface {
	Watcher
	foreignStore
	// Read runs fn in a transaction that only reads.
	Read(ctx context.Context, fn func(Tx) error) error
	// Update runs fn in a transaction and commits it unless fn fails. It waits
	// for a row that somebody else has locked as long as wait says.
	Update(ctx context.Context, wait time.Duration, fn func(Tx) error) error
	// Poll reads what there is to do.
	Poll(ctx context.Context, without Exclude) (Work, error)
	// OpensEarly reports whether a transaction that is open keeps nobody from writing, so that it
	// may begin a moment before its time.
	OpensEarly() bool
	// IDs returns the ids of the tasks that Tx.Tasks would read. No value of a row can make it fail.
	IDs(ctx context.Context, w Wanted) ([]string, error)
	// Locks keeps the lock of the modes leader and exclusive.
	Locks() leader.Store
	// Fault says what to blame for an error of the store.
	Fault(err error) service.Fault
}

// foreignStore is what a scheduler asks about queues, those that are not nextrun's own most of
// all.
type foreignStore interface {
	// Queues returns the built-in queues, and the given ones by their names.
	Queues(others periodic.Submitters) map[periodic.Sink]periodic.Queue
	// AskEnds asks a queue how some of its jobs ended, records that, and tells the hooks in the
	// same transaction. However many jobs are open, that is one statement in nextrun's tables
	// and one in those of the queue, and a few more if jobs have ended.
	AskEnds(ctx context.Context, a AskEnds) (Ends, error)
	// Stray sets the problem of tasks that have been due for a while and whose sinks are
	// not known, or cannot be used, and returns some of them. anew: also of those whose
	// problem says already that their ticks wait, since the cause is another one now.
	Stray(ctx context.Context, known []periodic.Sink, anew bool, problem func(periodic.Sink) string) ([]periodic.Task, error)
	// Fed returns those of some sinks that enabled tasks have.
	Fed(ctx context.Context, sinks []periodic.Sink) ([]periodic.Sink, error)
}

// Watcher tells of changes.
type Watcher interface {
	// Watch calls wake whenever tasks may have changed, until ctx ends. It
	// reports failures and goes on. Meanwhile the worker is shown to live; an empty one is nobody.
	Watch(ctx context.Context, worker string, wake func(), report func(error))
	// PauseFailing pauses the tasks that are due, and whose jobs have failed as often in a row as their PauseAfter
	// says. hooks hear of it; nil: nobody does.
	PauseFailing(ctx context.Context, hooks Hooks) error
	// SetTrouble publishes the error that keeps a worker that watches from its work, for
	// those who ask why; empty: there is none.
	SetTrouble(ctx context.Context, worker, trouble string) error
}

// Exclude says which tasks a query leaves out for now.
type Exclude struct {
	IDs []string // ids of tasks
	// Sinks that cannot be used. Tasks that wait for their first plan are not
	// left out: a plan needs no sink.
	Sinks []periodic.Sink
	// OnlySinks, if not nil, leaves out all other sinks, likewise, and finds stray tasks.
	OnlySinks []periodic.Sink
	// Tell are the queues that are asked how their jobs end. It leaves nothing out.
	Tell []periodic.Sink
	// NextRunAfter leaves out what fell due up to then: nothing of it was left when the scheduler looked.
	// It saves reading what an old snapshot keeps in the index. Zero: leave out nothing.
	NextRunAfter time.Time
}

// Work is what a scheduler needs to know to go to work, or to sleep.
type Work struct {
	Now       time.Time         // the database's clock
	Asked     time.Time         // by the host's clock: Now is not earlier
	Answered  time.Time         // by the host's clock: Now is not later
	Due       bool              // there are tasks to decide
	AskEndsAt time.Time         // when to ask one of the queues of [Exclude.Tell] for the ends of jobs; zero: nothing is open
	Stray     bool              // tasks have been due for a while whose sinks are not among OnlySinks
	Next      time.Time         // the earliest NextRun after Now; zero: none
	Marked    time.Time         // the earliest mark; zero: none
	Versions  map[string]string // of the tasks left out, by id: changes with an edit
}

// AskEnds says which queues to ask for the ends of jobs.
type AskEnds struct {
	Queues  periodic.Submitters // the one whose turn it is is asked
	Hooks   Hooks               // nil: nobody wants to hear of ends
	Limit   int                 // jobs at a time
	Timeout time.Duration       // of the queue's answer
}

// Ends is what [Store.AskEnds] found.
type Ends struct {
	Sink  periodic.Sink // the queue that was asked; empty: it was the turn of none
	Asked int           // jobs
	Ended []EndedTick   // that were not recorded before, by this scheduler
	Bad   []BadEnd      // jobs whose end cannot be read or recorded; they have another turn
	Now   time.Time     // the database's clock
	Next  time.Time     // if no queue was asked, when it is the turn of one; zero: no jobs are open
}

// Wanted says which tasks to read.
type Wanted struct {
	Limit int
	// Ahead, if not zero, means the tasks that are not due yet but will be within this time. Otherwise those are
	// meant that are due, but for those that wait for the end of a job.
	Ahead time.Duration
	// Unplanned means the tasks that wait for their first plan.
	Unplanned bool
	// After leaves out the tasks whose NextRun is not later; zero: none.
	After time.Time
	// Beyond leaves out the tasks up to this one in the order of NextRun and id; without an id, all
	// whose NextRun is not later.
	Beyond  Cursor
	Exclude Exclude
	Only    []string // ids of the tasks to choose from, which may wait for their first plan; nil: all
}

// Cursor is a place in the order of tasks by NextRun and id.
type Cursor struct {
	NextRun time.Time
	TaskID  string
}

// readTx is what a transaction reads.
type readTx interface {
	// Now is the database's time at the start of the transaction.
	Now() time.Time
	// DBTX runs the statements of a [sink.Submitter].
	DBTX() jobqueue.DBTX
	// Tasks reads tasks that are enabled and unmarked, by NextRun and id, with their calendars and without Args.
	Tasks(ctx context.Context, w Wanted) ([]periodic.Task, error)
	// Ticks returns, by task, what is recorded already from a tick of theirs on, oldest first, at most
	// [bounds.MaxDecided] rows of a task.
	Ticks(ctx context.Context, since []periodic.TickKey) (map[string][]decide.Range, error)
	// Ended returns, by task, when the job of its last submitted tick ended. Tasks whose job has not, or of
	// which that is not known, are missing.
	Ended(ctx context.Context, ids []string) (map[string]time.Time, error)
}

// Tx is a transaction of a [Store].
type Tx interface {
	readTx
	oneStatementTx
	// ClearMarks removes the marks that are older than a lease, and those of a worker name: they
	// are that name, or begin with service.WorkerName of it and an @. It returns their number.
	ClearMarks(ctx context.Context, lease time.Duration, name string) (int, error)
	// Advance writes Due, NextRun and Problem of the plans' tasks, and returns the ids of those
	// that it has written. It leaves out tasks whose row is not as it was read, and those that
	// somebody else has locked.
	Advance(ctx context.Context, plans []decide.Plan) (ids []string, err error)
	// Free returns those of some tasks that are due and that nobody has locked.
	Free(ctx context.Context, ids []string) ([]string, error)
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
	// SubmitAtOnce does for plans that are plain, with nothing to say about their ticks, what
	// Advance, Record and Submit of their queue do, with one statement. can is false if the
	// database cannot do that for this queue; then it has done nothing. Without plans it does
	// beforehand what can be done without them.
	SubmitAtOnce(ctx context.Context, queue periodic.Queue, plans []decide.Plan) (missing []Unsubmitted, can bool, err error)
}

// Unsubmitted is a plan of SubmitAtOnce whose job was not added, and how far it came.
type Unsubmitted struct {
	TaskID   string `db:"task_id"`
	Advanced bool   // the task has advanced
	Recorded bool   // and its tick was recorded; the queue did not take its job
}
