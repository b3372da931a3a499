package periodic

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Submitters are queues that are not nextrun's own, by the names that tasks have in the column sink.
type Submitters = map[Sink]sink.Submitter

// Queue is a queue as the scheduler uses it: a built-in one, or a [sink.Submitter]
// whose jobs the store follows in periodic_open.
type Queue interface {
	// Pending returns, by the task's id, the job of each task that is not final.
	Pending(ctx context.Context, tx jobqueue.DBTX, tasks []string) (map[string]sink.Pending, error)
	// Submit adds jobs and returns those that it did not take. Refused is empty if another job of the task
	// was there first, or a rule of the table forbids it.
	Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) ([]sink.Submission, error)
	// Cancel cancels the jobs of tasks, by the job's id: at once where no worker has
	// them yet, else by asking the worker, if the queue can. It passes over jobs that
	// somebody else has locked, and returns the ids of those it has cancelled or asked.
	Cancel(ctx context.Context, tx jobqueue.DBTX, tasks map[string]string, now time.Time) ([]string, error)
	// Cancels reports whether the queue can cancel jobs.
	Cancels() bool
	// CopiesArgs reports whether jobs can be submitted without their args.
	CopiesArgs() bool
	// Probe is that of [sink.Prober].
	Probe(ctx context.Context, tx jobqueue.DBTX) error
}

// JobIDs makes the ids of the task's jobs. Jobs for a [sink.Submitter] that is given args have ids that
// follow from the task and the tick: UUIDs of version 8 (RFC 9562).
func (t *Task) JobIDs(queue Queue) func(due time.Time) string {
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

// Job returns the job of a tick of the task, to be submitted now.
func (t *Task) Job(jid string, due, now time.Time) jobqueue.Job {
	return jobqueue.Job{
		JID: jid, Task: t.Task, Group: t.Group, Args: t.Args, Subject: t.Subject,
		Submitted: now, Submitter: t.Submitter, Priority: t.Priority, State: jobqueue.Waiting,
		Tracker: t.ID, Due: due, Single: !t.Overlapping(),
	}
}
