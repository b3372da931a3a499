package tasks

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// foreignQueue is a queue that is not nextrun's own. It implements [periodic.Queue]:
// periodic_open tells which jobs of a task to ask about. Whoever submits a job of a
// task holds a lock on the task's row, so nobody else adds rows of that task meanwhile.
type foreignQueue struct {
	openJobs
	sink      periodic.Sink
	submitter sink.Submitter
	job       periodic.Queue // the built-in queue, from which a task may have come; nil: there is none
}

// Pending implements [periodic.Queue].
func (q foreignQueue) Pending(ctx context.Context, tx jobqueue.DBTX, tasks []string) (map[string]sink.Pending, error) {
	open, err := q.of(ctx, tx, tasks)
	if err != nil {
		return nil, err
	}
	pending, _, err := q.pending(ctx, tx, open)
	if err != nil || q.job == nil {
		return pending, err
	}
	// The task may have come from the table job.
	more, err := q.job.Pending(ctx, tx, tasks)
	if err != nil {
		return nil, err
	}
	for id, p := range more {
		pending[id] = p
	}
	return pending, nil
}

// Submit implements [periodic.Queue].
func (q foreignQueue) Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) ([]sink.Submission, error) {
	before, err := q.of(ctx, tx, trackers(jobs))
	if err != nil {
		return nil, err
	}
	pending, over, err := q.pending(ctx, tx, before)
	if err != nil {
		return nil, err
	}
	var refused []sink.Submission
	free, list := make(map[string]jobqueue.Job, len(jobs)), make([]jobqueue.Job, 0, len(jobs))
	for _, j := range jobs {
		if _, inTheWay := pending[j.Tracker]; inTheWay && j.Single {
			refused = append(refused, sink.Submission{JID: j.JID})
		} else {
			free[j.JID], list = j, append(list, j)
		}
	}
	if len(list) == 0 {
		return refused, nil
	}
	results, err := q.give(ctx, tx, list)
	if err != nil {
		return nil, err
	}
	taken := make([]newOpen, 0, len(list))
	for _, r := range results {
		j, ok := free[r.JID]
		if !ok {
			return nil, fmt.Errorf("queue %q reports job %q, which it was not given or has reported before", q.sink, r.JID)
		}
		delete(free, r.JID)
		if r.Refused != "" {
			refused = append(refused, r)
		} else {
			taken = append(taken, newOpen{j, r.Ref})
		}
	}
	for jid, j := range free {
		return nil, fmt.Errorf("queue %q does not say what became of job %q of task %q", q.sink, jid, j.Tracker)
	}
	if err := q.forget(ctx, tx, over, list[0].Submitted); err != nil {
		return nil, err
	}
	return refused, q.await(ctx, tx, taken)
}

// await notes jobs in periodic_open.
func (q foreignQueue) await(ctx context.Context, tx jobqueue.DBTX, taken []newOpen) error {
	if len(taken) == 0 {
		return nil
	}
	r := q.db.Records(1, openFields, len(taken), func(i int) []any { return taken[i].values() })
	_, tells := q.submitter.(sink.EndTeller)
	n, err := q.db.In(tx, taken[0].job.Submitted).Exec(ctx, `INSERT INTO periodic_open (task_id, sink, ref, jid, due, submitted, look, tells)
		SELECT v.task_id, $2, v.ref, v.jid, v.due, v.submitted, $3, $4 FROM `+r.SQL+` AS v WHERE true ORDER BY v.task_id, v.due
		ON CONFLICT (task_id, due) DO UPDATE SET sink = excluded.sink, ref = excluded.ref, jid = excluded.jid,
			submitted = excluded.submitted, look = excluded.look, tells = excluded.tells, asked = NULL, ended = NULL`,
		r.Param, string(q.sink), sqldb.Timestamp(taken[0].job.Submitted.Add(firstLook)), tells)
	if err != nil || n == int64(len(taken)) {
		return err
	}
	return fmt.Errorf("a trigger on periodic_open keeps its rows from being written; remove it: without them tasks could get two jobs")
}

// PutBack puts a job back that failed or was cancelled, and notes that it is open again. It reports false if
// the queue does not have it.
func (q foreignQueue) PutBack(ctx context.Context, tx jobqueue.DBTX, job jobqueue.Job, ended time.Time) (bool, error) {
	open := sink.Open{TaskID: job.Tracker, JID: job.JID, Due: job.Due, Submitted: job.Submitted}
	ref, err := guarded(q.sink, func() (string, error) { return q.submitter.(sink.Retrier).Retry(ctx, tx, open, ended) })
	if err != nil || ref == "" {
		return false, err
	}
	return true, q.await(ctx, tx, []newOpen{{job, ref}})
}

// give hands jobs to the submitter. One that is given args runs the program's own code. It may take nearly the whole
// IdleTimeout, in place of half of it, and no longer: the tasks are locked.
func (q foreignQueue) give(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) ([]sink.Submission, error) {
	within := ctx
	if !q.CopiesArgs() && !q.db.SQL().IsSQLite() {
		limit := q.db.IdleTimeout()
		_, err := tx.ExecContext(ctx, "SELECT set_config('idle_in_transaction_session_timeout', $1, true)", strconv.FormatInt(limit.Milliseconds(), 10))
		if err != nil {
			return nil, err
		}
		limited, cancel := context.WithTimeout(ctx, limit-min(time.Second, limit/2)) // the code learns of it before its session ends
		defer cancel()
		within = limited
	}
	results, err := guarded(q.sink, func() ([]sink.Submission, error) { return q.submitter.Submit(within, tx, jobs) })
	if err != nil && within.Err() != nil && ctx.Err() == nil { // not the database's fault
		err = fmt.Errorf("took too long, while the tasks were locked; the limit is idle_timeout less a second: %v", err) //nolint:errorlint // its deadline is not ours
	}
	return results, err
}

func trackers(jobs []jobqueue.Job) []string {
	ids := make([]string, len(jobs))
	for i, j := range jobs {
		ids[i] = j.Tracker
	}
	return ids
}

// newOpen is a job that a queue has taken.
type newOpen struct {
	job jobqueue.Job
	ref string
}

// openFields are the columns of jobs that a queue has taken.
var openFields = []sqldb.Field{sqldb.Text("task_id"), sqldb.Text("ref"), sqldb.Text("jid"), sqldb.Time("due"), sqldb.Time("submitted")}

func (n newOpen) values() []any {
	return []any{n.job.Tracker, n.ref, n.job.JID, n.job.Due, n.job.Submitted}
}

// Cancel implements [periodic.Queue].
func (q foreignQueue) Cancel(ctx context.Context, tx jobqueue.DBTX, tasks map[string]string, now time.Time) ([]string, error) {
	return q.cancelOf(ctx, tx, tasks, now)
}

// cancelOf cancels jobs of tasks, by the job's id, that are in periodic_open.
func (o openJobs) cancelOf(ctx context.Context, tx jobqueue.DBTX, tasks map[string]string, now time.Time) ([]string, error) {
	ids := make([]string, 0, len(tasks))
	for _, id := range tasks {
		ids = append(ids, id)
	}
	open, err := o.of(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	open = slices.DeleteFunc(open, func(j openJob) bool { return tasks[j.JID] != j.TaskID })
	return o.cancel(ctx, tx, open, now)
}

// Cancels implements [periodic.Queue].
func (q foreignQueue) Cancels() bool { _, ok := q.submitter.(sink.Canceller); return ok }

// CopiesArgs implements [periodic.Queue].
func (q foreignQueue) CopiesArgs() bool { _, ok := q.submitter.(sink.ArgsCopier); return ok }

// Probe implements [periodic.Queue].
func (q foreignQueue) Probe(ctx context.Context, tx jobqueue.DBTX) error {
	p, ok := q.submitter.(sink.Prober)
	if err := q.probe(ctx, tx); err != nil || !ok {
		return err
	}
	_, err := guarded(q.sink, func() (struct{}, error) { return struct{}{}, p.Probe(ctx, tx) })
	return err
}

// movedQueue is the built-in queue beside others, from which its tasks may have
// come.
type movedQueue struct {
	periodic.Queue
	open openJobs
}

// Pending implements [periodic.Queue].
func (q movedQueue) Pending(ctx context.Context, tx jobqueue.DBTX, tasks []string) (map[string]sink.Pending, error) {
	found, err := q.Queue.Pending(ctx, tx, tasks)
	if err != nil {
		return nil, err
	}
	open, err := q.open.of(ctx, tx, tasks)
	if err != nil || len(open) == 0 {
		return found, err
	}
	more, _, err := q.open.pending(ctx, tx, open)
	if err != nil {
		return nil, err
	}
	for id, p := range found {
		more[id] = p
	}
	return more, err
}

// Probe implements [periodic.Queue].
func (q movedQueue) Probe(ctx context.Context, tx jobqueue.DBTX) error {
	if err := q.Queue.Probe(ctx, tx); err != nil {
		return err
	}
	return q.open.probe(ctx, tx)
}

// Cancel implements [periodic.Queue].
func (q movedQueue) Cancel(ctx context.Context, tx jobqueue.DBTX, tasks map[string]string, now time.Time) ([]string, error) {
	done, err := q.Queue.Cancel(ctx, tx, tasks, now)
	if err != nil || len(done) == len(tasks) {
		return done, err
	}
	more, err := q.open.cancelOf(ctx, tx, tasks, now)
	return append(done, more...), err
}
