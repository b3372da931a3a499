package schedule

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// Tasks is a database as the store of [periodic.Tasks].
type Tasks struct {
	db     *sqldb.DB
	queues Queues
}

var _ backend.TaskStore = Tasks{}

// NewTasks returns the tasks of a database.
func NewTasks(db *sqldb.DB, queues Queues) Tasks { return Tasks{db, queues} }

// Update implements [backend.TaskStore].
func (s Tasks) Update(ctx context.Context, fn func(backend.TaskTx) error) error {
	return s.db.Update(ctx, func(tx *sqldb.Tx) error {
		tx.Changes(sqldb.TopicTasks, sqldb.TopicJobs, sqldb.TopicEvents)
		return fn(taskTx{tx})
	})
}

// View implements [backend.TaskStore].
func (s Tasks) View(ctx context.Context, fn func(backend.TaskTx) error) error {
	return s.db.View(ctx, func(tx *sqldb.Tx) error { return fn(taskTx{tx}) })
}

// Join implements [backend.TaskStore].
func (s Tasks) Join(ctx context.Context, outer jobqueue.DBTX) (backend.TaskTx, error) {
	tx, err := s.db.Join(ctx, outer)
	return taskTx{tx}, err
}

// Queues implements [backend.TaskStore].
func (s Tasks) Queues(others map[periodic.Sink]backend.Submitter) map[periodic.Sink]backend.Queue {
	return s.queues.with(s.db, others)
}

// taskTx is a transaction in which tasks are managed.
type taskTx struct{ *sqldb.Tx }

func (tx taskTx) Add(ctx context.Context, t periodic.Task) error {
	if t.NextRun.IsZero() {
		t.NextRun = periodic.Unplanned
	}
	// ON CONFLICT keeps the caller's transaction usable.
	err := tx.one(ctx, `INSERT INTO periodic_task (id, enabled, task, group_, args, subject, submitter, priority,
			timer, summary, starts, ends, overlap, catchup, grace, deadline, jitter, sink,
			retry_limit, retry_delay, timeout, concurrency, nextrun)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
		ON CONFLICT (id) DO NOTHING`, append(userColumns(t), sqldb.Timestamp(t.NextRun))...)
	if errors.Is(err, sqldb.ErrNotFound) {
		return sqldb.ErrDuplicate
	}
	return tx.note(ctx, err, "add", t.ID, "timer "+t.Timer)
}

func (tx taskTx) Save(ctx context.Context, t periodic.Task) error {
	var was periodic.Task
	if sqldb.HasBy(ctx) {
		var err error
		if was, err = tx.Get(ctx, t.ID, false); err != nil {
			return err
		}
	}
	err := tx.one(ctx, `UPDATE periodic_task SET enabled = $2, task = $3, group_ = $4, args = $5, subject = $6,
			submitter = $7, priority = $8, timer = $9, summary = $10, starts = $11, ends = $12, overlap = $13,
			catchup = $14, grace = $15, deadline = $16, jitter = $17, sink = $18,
			retry_limit = $19, retry_delay = $20, timeout = $21, concurrency = $22
		WHERE id = $1`, userColumns(t)...)
	return tx.note(ctx, err, "change", t.ID, changed(was, t))
}

// userColumns are the values of the columns that users own, but nextrun.
func userColumns(t periodic.Task) []any {
	seconds := func(d time.Duration) int64 { return int64(d / time.Second) }
	var deadline, retryLimit any
	if t.Deadline != nil {
		deadline = seconds(*t.Deadline)
	}
	if t.RetryLimit != nil {
		retryLimit = *t.RetryLimit
	}
	unlessZero := func(n int64) any {
		if n == 0 {
			return nil
		}
		return n
	}
	return []any{
		t.ID, t.Enabled, t.Task, t.Group, t.Args, t.Subject, t.Submitter, t.Priority, t.Timer, sqldb.Nullable(t.Summary),
		sqldb.Timestamp(t.Starts), sqldb.Timestamp(t.Ends), string(t.Overlap), string(t.Catchup),
		seconds(t.Grace), deadline, seconds(t.Jitter), string(t.Sink),
		retryLimit, unlessZero(seconds(t.RetryDelay)), unlessZero(seconds(t.Timeout)), unlessZero(int64(t.Concurrency)),
	}
}

func (tx taskTx) Enable(ctx context.Context, id string, enabled bool) error {
	action := "disable"
	if enabled {
		action = "enable"
	}
	err := tx.one(ctx, `UPDATE periodic_task SET enabled = $2 WHERE id = $1`, id, enabled)
	return tx.note(ctx, err, action, id, "")
}

func (tx taskTx) SetPause(ctx context.Context, id string, p periodic.Pause) error {
	action, detail := "resume", ""
	if !p.Since.IsZero() {
		action, detail = "pause", p.Text()
	}
	err := tx.one(ctx, `UPDATE periodic_task SET paused = $2, paused_until = $3, paused_by = $4, paused_reason = $5 WHERE id = $1`,
		id, sqldb.Timestamp(p.Since), sqldb.Timestamp(p.Until), sqldb.Nullable(p.By), sqldb.Nullable(p.Reason))
	return tx.note(ctx, err, action, id, detail)
}

func (tx taskTx) Delete(ctx context.Context, id string) error {
	return tx.note(ctx, tx.one(ctx, `DELETE FROM periodic_task WHERE id = $1`, id), "delete", id, "")
}

func (tx taskTx) Get(ctx context.Context, id string, toEdit bool) (periodic.Task, error) {
	if toEdit { // locks the row on either database; nothing changes, so the triggers stay silent
		if err := tx.one(ctx, `UPDATE periodic_task SET id = id WHERE id = $1`, id); err != nil {
			return periodic.Task{}, err
		}
	}
	var row taskRow
	err := tx.First(ctx, &row, `SELECT args, `+taskColumns+` FROM periodic_task WHERE id = $1`, id)
	return row.task(), err
}

func (tx taskTx) List(ctx context.Context, f periodic.TaskFilter) ([]periodic.Task, error) {
	columns := taskColumns
	if f.WithArgs {
		columns += `, args`
	}
	selected, args, err := tx.selected(ctx, f)
	if err != nil {
		return nil, err
	}
	var rows []taskRow
	err = tx.Select(ctx, &rows, `SELECT `+columns+` FROM periodic_task AS t`+selected, args...)
	list := make([]periodic.Task, len(rows))
	for i, r := range rows {
		list[i] = r.task()
	}
	return list, err
}

// one runs a statement that must touch a row, or returns [sqldb.ErrNotFound].
func (tx taskTx) one(ctx context.Context, query string, args ...any) error {
	n, err := tx.Exec(ctx, query, args...)
	if err == nil && n == 0 {
		return sqldb.ErrNotFound
	}
	return err
}
