package periodic

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/finish"
)

// Submitter feeds a queue that is not nextrun's own, in the scheduler's
// transaction. Its name in the column sink selects it. It must be safe for
// concurrent use, and must not commit, roll back or keep the transaction.
//
// The scheduler records the newest job of each task in the table periodic_open,
// in the same transaction. From there it knows which jobs to ask about, so the
// other queue's tables need no column, index or trigger.
//
// The id of a job is the same each time its tick is tried, so that whatever Submit does outside the
// transaction can be recognised if the transaction is not committed.
//
// A panic counts as an error of the batch.
type Submitter interface {
	// Submit adds jobs, and says in any order what became of each. An error rolls the
	// transaction back: the scheduler then finds out whether single jobs are to blame.
	Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) ([]Submission, error)
	// Pending returns those of the open jobs that are not final, by the JID of [Open].
	// It takes no locks. A job that the queue does not have any more is final.
	Pending(ctx context.Context, tx jobqueue.DBTX, open []Open) ([]Pending, error)
}

// Submission is what became of a job that a [Submitter] was given.
type Submission struct {
	JID     string // of the job
	Ref     string // the job's id in the queue
	Refused string // why the queue does not take the job; empty: it has taken it
	// Passing says that the reason may pass: the tick stays, and is tried again
	// with backoff. Otherwise the tick is skipped, and the reason becomes the
	// problem of the task.
	Passing bool
}

// Open is a row of periodic_open: the newest job of a task in a queue that is
// not nextrun's own.
type Open struct {
	TaskID, JID, Ref string
	Due, Submitted   time.Time
}

// ArgsCopier is a [Submitter] that reads args from periodic_task by the
// tracker of a job itself, so that the scheduler need not read them. Other
// submitters get jobs with their args: at most 100 in a transaction, and at most 256 KiB of args at a
// time, or one job.
type ArgsCopier interface{ CopiesArgs() }

// Canceller is a [Submitter] whose jobs the policy [OverlapReplace] can
// cancel. Cancel cancels those that no worker has begun, passes over rows that
// somebody else has locked, and returns the JIDs of those that it cancelled.
type Canceller interface {
	Cancel(ctx context.Context, tx jobqueue.DBTX, open []Open, now time.Time) ([]string, error)
}

// Prober is a [Submitter] that can tell whether its queue takes jobs at all.
// Probe submits nothing. It fails as Submit would while somebody has locked the
// whole queue, or rights or tables are missing. The tasks of such a sink then
// wait, and those of other sinks do not.
type Prober interface {
	Probe(ctx context.Context, tx jobqueue.DBTX) error
}

// EndTeller is a [Submitter] that can tell how its jobs ended. The scheduler asks it from time
// to time about each job that has not, and writes the answer into periodic_tick. Hooks, alerts and
// screens follow from that.
type EndTeller interface {
	// Ends says how jobs ended, in any order. A job that has not ended may be among them, with
	// an empty State. One that the queue does not have any more is left out. The transaction only
	// reads.
	Ends(ctx context.Context, tx jobqueue.DBTX, open []Open) ([]JobEnd, error)
	// Gone is how a job ended that the queue does not have any more: [EndGone], if only success
	// removes jobs, [EndFailed], or [EndUnknown].
	Gone() EndState
}

// Retrier is a [Submitter] that can put a job back into its queue that failed or was cancelled there.
type Retrier interface {
	// Retries reports whether the queue can do that.
	Retries() bool
	// Retry puts back the job that ended so at a time, for one attempt more at least. The Ref of the
	// job is not known; Retry returns it. Empty: the queue has no such job, or it has not ended so.
	Retry(ctx context.Context, tx jobqueue.DBTX, job Open, ended time.Time) (ref string, err error)
}

// JobEnd is how a job of a queue that is not nextrun's own ended.
type JobEnd struct {
	JID      string    // see [Open]
	State    EndState  // empty: it has not ended
	Finished time.Time // UTC; zero: the queue does not tell
	Attempts int       // begun; 0: the queue does not tell
	Error    string    // of the last attempt, for people; ignored if the job succeeded
}

// EndState is how a job of a queue that is not nextrun's own ended.
type EndState string

// The ends. What ended with success or gone has succeeded.
const (
	EndSuccess   EndState = "success"
	EndFailed    EndState = "failed" // for good
	EndCancelled EndState = "cancelled"
	EndGone      EndState = "gone"    // the queue does not have the job any more, and that counts as success
	EndUnknown   EndState = "unknown" // the queue does not have the job any more, and nobody knows why
)

// Valid reports whether s is one of the ends.
func (s EndState) Valid() bool {
	return s == EndSuccess || s == EndFailed || s == EndCancelled || s == EndGone || s == EndUnknown
}

// Succeeded reports whether the job counts as a success.
func (s EndState) Succeeded() bool { return s == EndSuccess || s == EndGone }

// Queue is a queue as the scheduler uses it: a built-in one, or a [Submitter]
// whose jobs the store follows in periodic_open.
type Queue interface {
	// Pending returns, by the task's id, the job of each task that is not final.
	Pending(ctx context.Context, tx jobqueue.DBTX, tasks []string) (map[string]Pending, error)
	// Submit adds jobs and returns those that were refused.
	Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) ([]Refusal, error)
	// Cancel cancels the jobs of tasks, by the job's id: at once where no worker has
	// them yet, else by asking the worker, if the queue can. It passes over jobs that
	// somebody else has locked, and returns the ids of those it has cancelled or asked.
	Cancel(ctx context.Context, tx jobqueue.DBTX, tasks map[string]string, now time.Time) ([]string, error)
	// Cancels reports whether the queue can cancel jobs.
	Cancels() bool
	// CopiesArgs reports whether jobs can be submitted without their args.
	CopiesArgs() bool
	// Probe is that of [Prober].
	Probe(ctx context.Context, tx jobqueue.DBTX) error
}

// Refusal is a job that a queue did not take.
type Refusal struct {
	JID     string
	Reason  string // empty: another job of the task was there first, or a rule of the table forbids it
	Passing bool   // see [Submission]
}

// JobIDs makes the ids of a task's jobs. Jobs for a [Submitter] that is given args have ids that
// follow from the task and the tick: UUIDs of version 8 (RFC 9562).
func JobIDs(t *Task, queue Queue) func(due time.Time) string {
	if queue == nil || queue.CopiesArgs() {
		return func(time.Time) string { return jobqueue.NewID() }
	}
	return func(due time.Time) string {
		sum := sha256.Sum256([]byte(due.UTC().Format(time.RFC3339Nano) + " " + t.ID))
		id := uuid.UUID(sum[:16])
		id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
		return id.String()
	}
}

// Hooks hear of ticks that get no job although they should, in the transaction that
// records them: what TellMissed writes is committed with that, or not at all. They must
// be safe for concurrent use.
type Hooks interface {
	// HearsMissed reports whether anybody wants to hear of the ticks of a task.
	HearsMissed(t *Task) bool
	// TellMissed writes what is to be told of ticks that were missed, were too late, or
	// were refused for good by the queue of their task. It must not commit, roll back or
	// keep the transaction. An error rolls it back.
	TellMissed(ctx context.Context, tx jobqueue.DBTX, now time.Time, ticks []MissedTick) error
	// HearsEnd reports whether anybody wants to hear that the job of a tick in a queue that is
	// not nextrun's own ended so, and that this turned its task.
	HearsEnd(t *Task, k Tick) bool
	// TellEnds writes what is to be told of such jobs, as TellMissed does.
	TellEnds(ctx context.Context, tx jobqueue.DBTX, now time.Time, ticks []EndedTick) error
	// HearsFinish reports whether anybody wants to hear that a tick of a task is at risk, or late: it
	// has to finish by a time.
	HearsFinish(t *Task, s finish.State) bool
	// TellFinishes writes what is to be told of such ticks, as TellMissed does.
	TellFinishes(ctx context.Context, tx jobqueue.DBTX, now time.Time, ticks []Finish) error
}

// Finish is what has been found of a tick that has to finish by a time.
type Finish struct {
	Task  *Task // nil: it was deleted
	Tick  Tick
	State finish.State
	Why   string // why it is at risk or late

	Own       bool   // its job is in nextrun's own queue
	JobState  string // of the job; in another queue only of one that has ended; empty: there is none, or nobody knows
	Attempts  int    // of the job; 0: nobody knows
	Submitted time.Time
	Started   time.Time // zero: it has not begun, or nobody knows
	Finished  time.Time // zero: it has not ended
}

// MissedTick is a tick without a job.
type MissedTick struct {
	Task *Task
	Tick Tick
}

// EndedTick is a tick whose job in a queue that is not nextrun's own has ended.
type EndedTick struct {
	Task *Task // nil: it was deleted
	Tick Tick
}
