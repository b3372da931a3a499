// Package taskdb is what the scheduler asks of a database; package store implements it.
package taskdb

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/internal/leader"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Store is the database as the scheduler needs it; package store implements it.
// It must be safe for concurrent use.
type Store interface {
	Watcher
	foreignStore
	// Update runs fn in a transaction and commits it unless fn fails. It waits
	// for a row that somebody else has locked as long as wait says.
	Update(ctx context.Context, wait time.Duration, fn func(Tx) error) error
	// Poll reads what there is to do. It changes nothing.
	Poll(ctx context.Context, without Exclude) (Work, error)
	// OpensEarly reports whether a transaction that is open keeps nobody from writing, so that it
	// may begin a moment before its time.
	OpensEarly() bool
	// Candidates returns the ids of the tasks that a claim would lock.
	Candidates(ctx context.Context, c Claim) ([]string, error)
	// Tend handles the entries of periodic_ready: queued ticks whose wait may be
	// over. It repeats the request to end a job that a tick replaces, if the job was
	// locked the first time, and removes a limited number of outdated entries. If
	// all is true, it first adds the entries that no trigger has written, as after a
	// restore from a backup. Tasks that a claim would leave out are not ready.
	Tend(ctx context.Context, all bool, without Exclude) (Tended, error)
	// Locks keeps the lock of the modes leader and exclusive.
	Locks() leader.Store
	// Fault says what to blame for an error of the store.
	Fault(err error) Fault
}

// foreignStore is what a scheduler asks about queues, those that are not nextrun's own most of
// all.
type foreignStore interface {
	// Queues returns the built-in queues, and the given ones by their names.
	Queues(others periodic.Submitters) map[periodic.Sink]periodic.Queue
	// Follow looks at the open jobs of tasks whose queued ticks wait for them, and ends
	// the wait for those that are final. Last is set even if it fails.
	Follow(ctx context.Context, f Follow) (Followed, error)
	// AskEnds asks a queue how some of its jobs ended, records that, and tells the hooks in the
	// same transaction. However many jobs are open, that is one statement in nextrun's tables
	// and one in those of the queue, and a few more if jobs have ended.
	AskEnds(ctx context.Context, a AskEnds) (Ends, error)
	// JoexEnds records how jobs in the table job ended that Docspell's job executors ran, and
	// tells the hooks in the same transaction. It finds those that ended within the last hour.
	JoexEnds(ctx context.Context, h Hooks) ([]EndedTick, error)
	// Stray sets the problem of tasks that have been due for a while and whose sinks are
	// not known, or cannot be used, and returns some of them. anew: also of those whose
	// problem says already that their ticks wait, since the cause is another one now.
	Stray(ctx context.Context, known []periodic.Sink, anew bool, problem func(periodic.Sink) string) ([]periodic.Task, error)
	// Fed returns those of some sinks that enabled tasks have.
	Fed(ctx context.Context, sinks []periodic.Sink) ([]periodic.Sink, error)
}

// Watcher tells of changes and of locks.
type Watcher interface {
	// Watch calls wake whenever tasks may have changed, until ctx ends. It
	// reports failures and goes on. Meanwhile the worker is shown to live, and to know
	// these sinks; an empty one is nobody.
	Watch(ctx context.Context, worker string, sinks []periodic.Sink, wake func(), report func(error))
	// PauseFailing pauses the tasks that are due, and whose jobs have failed as often in a row as their PauseAfter
	// says. hooks hear of it; nil: nobody does.
	PauseFailing(ctx context.Context, hooks Hooks) error
	// Precedes reports whether another worker that is shown to live, and to know these
	// sinks at least, began before this one. It is a hint: a process that stands still lives, too.
	Precedes(ctx context.Context, worker string, sinks []periodic.Sink) (bool, error)
	// Locked lists some of the tasks that have been due for longer than late and whose rows
	// a session has locked, where the database can tell.
	Locked(ctx context.Context, late time.Duration, without Exclude) ([]LockedTask, error)
	// SetTrouble publishes the error that keeps a worker that watches from its work, for
	// those who ask why; empty: there is none.
	SetTrouble(ctx context.Context, worker, trouble string) error
}

// LockedTask is a task whose row somebody has locked.
type LockedTask struct {
	ID     string // its id
	Who    string // has locked it
	Holder string // the same, and what it is doing
}

// Fault says what to blame for an error.
type Fault int

// The faults.
const (
	FaultUnknown  Fault = iota // the cause is unknown: tried again
	FaultRow                   // the database refuses a row, or cannot read it
	FaultLock                  // somebody else holds a lock for longer than we wait
	FaultDatabase              // the database is out of reach or busy, or the work was interrupted: tried again
)

// Exclude says which tasks a query leaves out for now.
type Exclude struct {
	IDs []string // ids of tasks
	// Sinks that cannot be used. Tasks that wait for their first plan are not
	// left out: a plan needs no sink.
	Sinks []periodic.Sink
	// OnlySinks, if not nil, leaves out all other sinks, likewise, and finds stray tasks.
	OnlySinks []periodic.Sink
	// Queued leaves out the queued ticks: the tables that say which of them can
	// go ahead cannot be read.
	Queued bool
	// Tell are the queues that tell how their jobs end. It leaves nothing out.
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
	Due       bool              // there are tasks to claim
	Ready     bool              // queued ticks may have to be tended
	Open      bool              // there are rows of periodic_open
	AskEndsAt time.Time         // when to ask one of the queues of [Exclude.Tell] for the ends of jobs; zero: nothing is open
	Stray     bool              // tasks have been due for a while whose sinks are not among OnlySinks
	Next      time.Time         // the earliest NextRun after Now of tasks that could be claimed, or end of a pause; zero: none
	Marked    time.Time         // the earliest mark; zero: none
	Versions  map[string]string // of the tasks left out, by id: changes with an edit
}

// Tended is what is left to do about queued ticks.
type Tended struct {
	Ready bool // there are queued ticks to claim
	More  bool // there may be more entries to forget
	Again bool // a job that is to be replaced is still locked
}

// Follow says which open jobs to look at.
type Follow struct {
	Queues  periodic.Submitters
	Known   []periodic.Sink // all queues of the scheduler, the built-in ones too
	Exclude []periodic.Sink // queues that cannot be used
	After   string          // only tasks with ids after this one
	Limit   int
}

// Followed is what [Store.Follow] found.
type Followed struct {
	Waiting int    // tasks whose queued ticks still wait
	Ended   int    // tasks whose wait has ended
	Last    string // id of the last task, if there may be more; empty: these were all
}

// AskEnds says which queues to ask for the ends of jobs.
type AskEnds struct {
	Queues  map[periodic.Sink]sink.EndTeller // the one whose turn it is is asked
	Hooks   Hooks                            // nil: nobody wants to hear of ends
	Limit   int                              // jobs at a time
	Timeout time.Duration                    // of the queue's answer
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

// Claim says which tasks to lock.
type Claim struct {
	Limit int
	// After, if not zero, leaves out tasks whose NextRun is not later, that wait
	// for their first plan, or that are claimed for a queued tick.
	After time.Time
	// Ahead, if not zero, reads the tasks that are not due yet but will be within this
	// time, and locks none. It leaves out those with queued ticks, which can go as soon as a
	// job ends.
	Ahead time.Duration
	// Beyond leaves out the tasks up to this one in the order of NextRun and id; without an id, all
	// whose NextRun is not later. For Ahead.
	Beyond  Cursor
	Exclude Exclude
	Only    []string // ids of the tasks to choose from; nil: all
}

// Cursor is a place in the order of tasks by NextRun and id.
type Cursor struct {
	NextRun time.Time
	TaskID  string
}

// Tx is a transaction of a [Store].
type Tx interface {
	oneStatementTx
	// Now is the database's time at the start of the transaction.
	Now() time.Time
	// DBTX runs the statements of a [sink.Submitter].
	DBTX() jobqueue.DBTX
	// ClearMarks removes the marks that are older than a lease, and those of a worker name: they
	// are that name, or begin with service.WorkerName of it and an @. It returns their number.
	ClearMarks(ctx context.Context, lease time.Duration, name string) (int, error)
	// Claim locks tasks that are enabled, unmarked and due until the transaction ends, and
	// returns them by NextRun and id, with their calendars and without Args. If there are more than the
	// limit, it prefers those whose NextRun has come, earliest first, then unplanned ones, then those with
	// a queued tick and no pending job. It passes over rows that others have locked.
	Claim(ctx context.Context, c Claim) ([]periodic.Task, error)
	// Ticks returns, by task, the due times of the queued ticks of some tasks,
	// oldest first, and what is recorded already from a tick of others on, oldest
	// first, at most [bounds.MaxDecided] rows of a task.
	Ticks(ctx context.Context, queued []string, decidedSince []periodic.TickKey) (Recorded, error)
	// Advance writes Due, NextRun and Problem of the plans' tasks, and returns the ids of those
	// that it has written. It leaves out tasks whose row is not as it was read, and those that
	// somebody else has locked. A plan whose task has no Version is of a task that a claim of this
	// transaction has locked.
	Advance(ctx context.Context, plans []decide.Plan) (ids []string, err error)
	// Record changes ticks that are queued, and those added in this transaction,
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

// ErrSuppressed is the error of a task that does not advance although it is locked.
var ErrSuppressed = errors.New("the database accepts the next tick of the task, but does not write it; look for a trigger that suppresses it")

// Unsubmitted is a plan of SubmitAtOnce whose job was not added, and how far it came.
type Unsubmitted struct {
	TaskID   string `db:"task_id"`
	Advanced bool   // the task has advanced
	Recorded bool   // and its tick was recorded; the queue did not take its job
}

// Recorded is what periodic_tick holds about the tasks of a batch, by their ids.
type Recorded struct {
	Queued  map[string][]time.Time
	Decided map[string][]decide.Range
}
