package tasks

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Queues are the built-in queues of a database.
type Queues map[periodic.Sink]periodic.Queue

// with returns the built-in queues, and others by their names. Where there are
// others, a task may have come from one of them with a job that is not final, so
// the table job is not enough to look at.
func (q Queues) with(db *sqldb.DB, others periodic.Submitters) map[periodic.Sink]periodic.Queue {
	all := map[periodic.Sink]periodic.Queue{}
	maps.Copy(all, q)
	if len(others) == 0 {
		return all
	}
	open := openJobs{db, others}
	if job, ok := all[periodic.SinkJob]; ok {
		all[periodic.SinkJob] = movedQueue{job, open}
	}
	for sink, submitter := range others {
		all[sink] = foreignQueue{openJobs: open, sink: sink, submitter: submitter, job: q[periodic.SinkJob]}
	}
	return all
}

// openJobs are the rows of periodic_open: jobs in the queues that are not nextrun's own whose end is not
// recorded yet.
type openJobs struct {
	db     *sqldb.DB
	queues periodic.Submitters
}

// openJob is a row of periodic_open.
type openJob struct {
	sink periodic.Sink
	sink.Open
}

// of returns the jobs of tasks that are not known to have ended.
func (o openJobs) of(ctx context.Context, tx jobqueue.DBTX, tasks []string) (found []openJob, err error) {
	r := o.db.Texts(1, tasks)
	var rows []awaited
	err = o.db.In(tx, time.Time{}).Select(ctx, &rows, `SELECT o.task_id, o.sink, o.ref, o.jid, o.due, o.submitted
		FROM `+r.SQL+` AS v CROSS JOIN periodic_open AS o WHERE o.task_id = v.value AND o.ended IS NULL`, r.Param)
	for i := range rows {
		found = append(found, openJob{periodic.Sink(rows[i].Sink), rows[i].open()})
	}
	return found, err
}

// pending asks the queues which of their jobs are not final, by their tasks, and returns those that have
// ended. It leaves out the jobs of queues that this program does not know: nobody here can tell.
func (o openJobs) pending(ctx context.Context, tx jobqueue.DBTX, jobs []openJob) (found map[string]sink.Pending, over []sink.Open, err error) {
	found = map[string]sink.Pending{}
	for name, part := range bySink(jobs) {
		submitter, ok := o.queues[name]
		if !ok {
			continue
		}
		asked := make(map[string]sink.Open, len(part))
		for _, job := range part {
			asked[job.JID] = job
		}
		list, err := guarded(name, func() ([]sink.Pending, error) { return submitter.Pending(ctx, tx, part) })
		if err != nil {
			return nil, nil, err
		}
		for _, p := range list {
			job, ok := asked[p.JID]
			if !ok {
				return nil, nil, fmt.Errorf("queue %q reports job %q as pending, which it was not asked about", name, p.JID)
			}
			if p.Due.IsZero() {
				p.Due = job.Due
			}
			delete(asked, p.JID)
			if newer, ok := found[job.TaskID]; !ok || newer.Due.Before(p.Due) {
				found[job.TaskID] = p
			}
		}
		over = append(over, slices.Collect(maps.Values(asked))...)
	}
	return found, over, nil
}

// cancel cancels those of the jobs that no worker has begun, where the queue can
// do that. It returns their ids.
func (o openJobs) cancel(ctx context.Context, tx jobqueue.DBTX, jobs []openJob, now time.Time) ([]string, error) {
	var cancelled []string
	for name, part := range bySink(jobs) {
		canceller, ok := o.queues[name].(sink.Canceller)
		if !ok {
			continue
		}
		jids, err := guarded(name, func() ([]string, error) { return canceller.Cancel(ctx, tx, part, now) })
		if err != nil {
			return nil, err
		}
		cancelled = append(cancelled, jids...)
		done := slices.DeleteFunc(slices.Clone(part), func(j sink.Open) bool { return !slices.Contains(jids, j.JID) })
		if err := o.change(ctx, tx, `UPDATE periodic_open SET asked = $2`, done, sqldb.Timestamp(now)); err != nil { // some queues delete them
			return nil, err
		}
	}
	return cancelled, nil
}

// forget notes which jobs have ended, so that nobody asks whether they are pending.
func (o openJobs) forget(ctx context.Context, tx jobqueue.DBTX, jobs []sink.Open, now time.Time) error {
	return o.change(ctx, tx, `UPDATE periodic_open SET ended = $2`, jobs, sqldb.Timestamp(now))
}

// probe checks whether periodic_open can be written.
func (openJobs) probe(ctx context.Context, tx jobqueue.DBTX) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO periodic_open (task_id) SELECT '' WHERE false`); err != nil {
		return fmt.Errorf("write to the table periodic_open: %w", err)
	}
	return nil
}

// change runs a statement over the rows of jobs.
func (o openJobs) change(ctx context.Context, tx jobqueue.DBTX, statement string, jobs []sink.Open, now any) error {
	if len(jobs) == 0 {
		return nil
	}
	r := o.db.Records(1, []sqldb.Field{sqldb.Text("of_task"), sqldb.Time("of_due"), sqldb.Text("of_job")}, len(jobs),
		func(i int) []any { return []any{jobs[i].TaskID, jobs[i].Due, jobs[i].JID} })
	_, err := o.db.In(tx, time.Time{}).Exec(ctx, statement+
		` WHERE (task_id, due, jid) IN (SELECT v.of_task, v.of_due, v.of_job FROM `+r.SQL+` AS v)`, r.Param, now)
	return err
}

func bySink(jobs []openJob) map[periodic.Sink][]sink.Open {
	parts := map[periodic.Sink][]sink.Open{}
	for _, job := range jobs {
		parts[job.sink] = append(parts[job.sink], job.Open)
	}
	return parts
}

// guarded runs code of a queue that is not nextrun's own, and turns a panic into
// an error.
func guarded[T any](sink periodic.Sink, run func() (T, error)) (result T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("queue %q panicked%s: %v", sink, panicPlace(), p)
		}
	}()
	if result, err = run(); err != nil {
		err = fmt.Errorf("queue %q: %w", sink, err)
	}
	return result, err
}

// panicPlace is where the panic that is being recovered from happened.
func panicPlace() string {
	calls := make([]uintptr, 16)
	frames := runtime.CallersFrames(calls[:runtime.Callers(3, calls)])
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !strings.HasPrefix(frame.Function, "runtime.") {
			return fmt.Sprintf(" in %s (line %d)", frame.Function, frame.Line)
		}
		if !more {
			return ""
		}
	}
}
