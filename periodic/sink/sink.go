// Package sink is what a program implements to let tasks feed its own queue: a [Submitter], and
// what only some queues can do besides. It is the one import of nextrun that such a queue needs.
//
// An example of package periodic/scheduler has one of 30 lines; package ops/nextruntest checks whether it
// does what the scheduler expects.
package sink

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// Job is what a tick became.
type Job = jobqueue.Job

// DBTX is the transaction in which jobs are submitted.
type DBTX = jobqueue.DBTX

// Submitter feeds a queue that is not nextrun's own, in the scheduler's
// transaction. Its name in the column sink selects it. It must be safe for
// concurrent use, and must not commit, roll back or keep the transaction.
//
// The scheduler records each job in the table periodic_open, in the same transaction,
// until its end is known. From there it knows which jobs to ask about, so the
// other queue's tables need no column, index or trigger.
//
// The id of a job is the same each time its tick is tried, so that whatever Submit does outside the
// transaction can be recognised if the transaction is not committed.
//
// A panic counts as an error of the batch.
type Submitter interface {
	// Submit adds jobs, and says in any order what became of each. An error rolls the
	// transaction back: the scheduler then finds out whether single jobs are to blame.
	Submit(ctx context.Context, tx DBTX, jobs []Job) ([]Submission, error)
	// Pending returns those of the open jobs that are not final, by the JID of [Open].
	// It takes no locks. A job that the queue does not have any more is final.
	Pending(ctx context.Context, tx DBTX, open []Open) ([]Pending, error)
}

// Pending is a job that is not final.
type Pending struct {
	JID     string
	State   jobqueue.State
	Due     time.Time // the tick it is for; zero: none
	Started time.Time // when its run began, whichever attempt it is in; zero: it has not
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

// Open is a row of periodic_open: a job of a task in a queue that is
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

// Canceller is a [Submitter] whose jobs the policy [periodic.OverlapReplace] can
// cancel. Cancel cancels those that no worker has begun, passes over rows that
// somebody else has locked, and returns the JIDs of those that it cancelled.
type Canceller interface {
	Cancel(ctx context.Context, tx DBTX, open []Open, now time.Time) ([]string, error)
}

// Prober is a [Submitter] that can tell whether its queue takes jobs at all.
// Probe submits nothing. It fails as Submit would while somebody has locked the
// whole queue, or rights or tables are missing. The tasks of such a sink then
// wait, and those of other sinks do not.
type Prober interface {
	Probe(ctx context.Context, tx DBTX) error
}

// EndTeller is a [Submitter] that can tell how its jobs ended. The scheduler asks it from time
// to time about each job that has not, and writes the answer into periodic_tick. Hooks, alerts and
// screens follow from that.
type EndTeller interface {
	// Ends says how jobs ended, in any order. A job that has not ended may be among them, with
	// an empty State. One that the queue does not have any more is left out. The transaction only
	// reads.
	Ends(ctx context.Context, tx DBTX, open []Open) ([]JobEnd, error)
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
	Retry(ctx context.Context, tx DBTX, job Open, ended time.Time) (ref string, err error)
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
