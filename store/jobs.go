package store

import (
	"context"
	"database/sql"

	"github.com/nextrun/nextrun/jobqueue/backend"
)

// JobStore is the queue of a database, for jobqueue.NewExecutor and
// jobqueue.NewQueue. It is safe for concurrent use.
type JobStore struct{ db *DB }

var (
	_ backend.Store      = JobStore{}
	_ backend.QueueStore = JobStore{}
)

// Jobs returns the queue of the database.
func (db *DB) Jobs() JobStore { return JobStore{db} }

// Update implements [backend.QueueStore].
func (s JobStore) Update(ctx context.Context, fn func(backend.QueueTx) error) error {
	return s.db.Update(ctx, func(tx *Tx) error { return fn(jobTx{tx}) })
}

// View implements [backend.QueueStore].
func (s JobStore) View(ctx context.Context, fn func(backend.QueueTx) error) error {
	return s.db.View(ctx, func(tx *Tx) error { return fn(jobTx{tx}) })
}

// Join implements [backend.QueueStore].
func (s JobStore) Join(ctx context.Context, outer backend.DBTX) (backend.QueueTx, error) {
	tx, err := s.db.join(ctx, outer)
	return jobTx{tx}, err
}

// Watch implements [backend.Store] and [backend.QueueStore].
func (s JobStore) Watch(ctx context.Context, wake func(), report func(error)) {
	s.db.dialect.watch(ctx, []topic{topicJobs}, wake, report)
}

// jobTx are the operations on jobs inside a transaction.
type jobTx struct{ *Tx }

// slimJobColumns are those of [jobRow] but args, which may be large.
const slimJobColumns = `jid, task, group_, subject, submitted, submitter, priority, state, retries, progress,
	tracker, worker, started, finished, due, heartbeat, single, cancel, retry, result, interrupts`

const jobColumns = slimJobColumns + ", args"

// jobRow is a row of the table job.
type jobRow struct {
	JID        string
	Task       string
	Group      string `db:"group_"`
	Args       string
	Subject    string
	Submitted  rowTime
	Submitter  string
	Priority   rowInt
	State      string
	Retries    rowInt
	Progress   rowInt
	Tracker    sql.NullString
	Worker     sql.NullString
	Started    rowTime
	Finished   rowTime
	Due        rowTime
	Heartbeat  rowTime
	Single     rowBool
	Cancel     rowTime
	Retry      rowTime
	Result     sql.NullString
	Interrupts rowInt
}

func (r jobRow) job() backend.Job {
	return backend.Job{
		JID: r.JID, Task: r.Task, Group: r.Group, Args: r.Args, Subject: r.Subject,
		Submitted: r.Submitted.Time(), Submitter: r.Submitter, Priority: r.Priority.n,
		State: backend.State(r.State), Retries: r.Retries.n, Progress: r.Progress.n,
		Tracker: r.Tracker.String, Worker: r.Worker.String, Started: r.Started.Time(),
		Finished: r.Finished.Time(), Due: r.Due.Time(), Heartbeat: r.Heartbeat.Time(),
		Single: bool(r.Single), Cancel: r.Cancel.Time(), Retry: r.Retry.Time(), Result: r.Result.String,
		Interrupts: r.Interrupts.n,
	}
}

func (tx jobTx) jobs(ctx context.Context, query string, args ...any) ([]backend.Job, error) {
	var rows []jobRow
	if err := tx.list(ctx, &rows, query, args...); err != nil {
		return nil, err
	}
	jobs := make([]backend.Job, len(rows))
	for i, r := range rows {
		jobs[i] = r.job()
	}
	return jobs, nil
}

// texts are records of one text column, "value".
func (tx *Tx) texts(placeholder int, values []string) (records, error) {
	return tx.db.texts(placeholder, values)
}
