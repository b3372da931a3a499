// Package queue keeps the jobs, their logs, and whose turn it is, in the tables
// job, joblog, jobgroupuse and job_pause: for executors and for those who submit,
// watch and change jobs.
package queue

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue/backend"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// Store is the queue of a database, for jobqueue.NewExecutor and
// jobqueue.NewQueue. It is safe for concurrent use.
type Store struct{ db *sqldb.DB }

var (
	_ backend.Store      = Store{}
	_ backend.QueueStore = Store{}
)

// New returns the queue of a database.
func New(db *sqldb.DB) Store { return Store{db} }

// Update implements [backend.QueueStore].
func (s Store) Update(ctx context.Context, fn func(backend.QueueTx) error) error {
	return s.db.Update(ctx, onJobs(ctx, func(tx *sqldb.Tx) error {
		tx.Changes(sqldb.TopicJobs, sqldb.TopicTasks)
		return fn(jobTx{tx})
	}))
}

// View implements [backend.QueueStore].
func (s Store) View(ctx context.Context, fn func(backend.QueueTx) error) error {
	return s.db.View(ctx, onJobs(ctx, func(tx *sqldb.Tx) error { return fn(jobTx{tx}) }))
}

// Join implements [backend.QueueStore].
func (s Store) Join(ctx context.Context, outer backend.DBTX) (backend.QueueTx, error) {
	tx, err := s.db.Join(ctx, outer)
	if err == nil {
		err = tx.NeedJobs(ctx)
	}
	return jobTx{tx}, err
}

// onJobs is fn for a database that has the tables of jobs. In another one a table of
// such a name would be somebody else's.
func onJobs(ctx context.Context, fn func(*sqldb.Tx) error) func(*sqldb.Tx) error {
	return func(tx *sqldb.Tx) error {
		if err := tx.NeedJobs(ctx); err != nil {
			return err
		}
		return fn(tx)
	}
}

// Watch implements [backend.Store] and [backend.QueueStore].
func (s Store) Watch(ctx context.Context, e backend.Service, wake func(), report func(error)) {
	of := sqldb.Service{Worker: e.Worker, Kind: "executor"}
	if e.Worker != "" {
		handlers, _ := json.Marshal(e.Handlers) // of texts and numbers
		of.Places, of.Lease, of.Handlers = e.Places, int(e.Lease.Seconds()), string(handlers)
	}
	if len(e.Groups) > 0 {
		groups, _ := json.Marshal(e.Groups)
		of.OnlyGroups = string(groups)
	}
	s.db.Watch(ctx, of, wake, report, sqldb.TopicJobs)
}

// jobTx are the operations on jobs inside a transaction, for those who submit,
// watch and change them. What only executors do is in [workTx] and [claimTx].
type jobTx struct{ *sqldb.Tx }

// slimJobColumns are those of [jobRow] but args, which may be large.
const slimJobColumns = `jid, task, group_, subject, submitted, submitter, priority, state, retries, progress,
	tracker, worker, started, finished, due, heartbeat, single, cancel, retry, result, interrupts, retry_limit, retry_delay, timeout, concurrency, traceparent`

const jobColumns = slimJobColumns + ", args"

// jobRow is a row of the table job.
type jobRow struct {
	JID        string
	Task       string
	Group      string `db:"group_"`
	Args       string
	Subject    string
	Submitted  sqldb.RowTime
	Submitter  string
	Priority   sqldb.RowInt
	State      string
	Retries    sqldb.RowInt
	Progress   sqldb.RowInt
	Tracker    sql.NullString
	Worker     sql.NullString
	Started    sqldb.RowTime
	Finished   sqldb.RowTime
	Due        sqldb.RowTime
	Heartbeat  sqldb.RowTime
	Single     sqldb.RowBool
	Cancel     sqldb.RowTime
	Retry      sqldb.RowTime
	Result     sql.NullString
	Interrupts sqldb.RowInt

	RetryLimit  sqldb.RowInt `db:"retry_limit"`
	RetryDelay  sqldb.RowInt `db:"retry_delay"`
	Timeout     sqldb.RowInt
	Concurrency sqldb.RowInt

	Traceparent sqldb.RowText
}

func (r jobRow) job() backend.Job {
	return backend.Job{
		JID: r.JID, Task: r.Task, Group: r.Group, Args: r.Args, Subject: r.Subject,
		Submitted: r.Submitted.Time(), Submitter: r.Submitter, Priority: r.Priority.N,
		State: backend.State(r.State), Retries: r.Retries.N, Progress: r.Progress.N,
		Tracker: r.Tracker.String, Worker: r.Worker.String, Started: r.Started.Time(),
		Finished: r.Finished.Time(), Due: r.Due.Time(), Heartbeat: r.Heartbeat.Time(),
		Single: bool(r.Single), Cancel: r.Cancel.Time(), Retry: r.Retry.Time(), Result: r.Result.String,
		Interrupts: r.Interrupts.N, Limits: r.limits(), Traceparent: traceparent.Clean(string(r.Traceparent)),
	}
}

func (r jobRow) limits() backend.Limits {
	l := backend.Limits{
		RetryLimit: r.RetryLimit.N, RetryDelay: time.Duration(r.RetryDelay.N) * time.Second,
		Timeout: time.Duration(r.Timeout.N) * time.Second, Concurrency: r.Concurrency.N,
	}
	if r.RetryLimit.OK && l.RetryLimit == 0 {
		l.RetryLimit = backend.Never
	}
	return l
}

// limitColumns are the columns of a job's limits, for an INSERT.
const limitColumns = "retry_limit, retry_delay, timeout, concurrency"

// limitFields are the same of records, limitValues their values.
func limitFields() []sqldb.Field {
	return []sqldb.Field{sqldb.Int("retry_limit"), sqldb.Int("retry_delay"), sqldb.Int("timeout"), sqldb.Int("concurrency")}
}

func limitValues(l backend.Limits) []any {
	values := []any{nil, nil, nil, nil}
	for i, n := range []int{max(l.RetryLimit, 0), int(l.RetryDelay / time.Second), int(l.Timeout / time.Second), l.Concurrency} {
		if n != 0 || i == 0 && l.RetryLimit == backend.Never {
			values[i] = n
		}
	}
	return values
}

func (tx jobTx) jobs(ctx context.Context, query string, args ...any) ([]backend.Job, error) {
	var rows []jobRow
	if err := tx.Select(ctx, &rows, query, args...); err != nil {
		return nil, err
	}
	jobs := make([]backend.Job, len(rows))
	for i, r := range rows {
		jobs[i] = r.job()
	}
	return jobs, nil
}
