package tasks

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// Tasks is a database as the store of [periodic.Tasks].
type Tasks struct {
	db     *sqldb.DB
	queues Queues
}

var _ periodic.TaskStore = Tasks{}

// NewTasks returns the tasks of a database.
func NewTasks(db *sqldb.DB, queues Queues) Tasks { return Tasks{db, queues} }

// Update implements [periodic.TaskStore].
func (s Tasks) Update(ctx context.Context, fn func(periodic.TaskTx) error) error {
	return s.db.Update(ctx, func(tx *sqldb.Tx) error {
		tx.Changes(sqldb.TopicTasks, sqldb.TopicJobs, sqldb.TopicEvents)
		return fn(taskTx{tx})
	})
}

// View implements [periodic.TaskStore].
func (s Tasks) View(ctx context.Context, fn func(periodic.TaskTx) error) error {
	return s.db.View(ctx, func(tx *sqldb.Tx) error { return fn(taskTx{tx}) })
}

// Join implements [periodic.TaskStore].
func (s Tasks) Join(ctx context.Context, outer jobqueue.DBTX) (periodic.TaskTx, error) {
	tx, err := s.db.Join(ctx, outer)
	return taskTx{tx}, err
}

// Queues implements [periodic.TaskStore].
func (s Tasks) Queues(others periodic.Submitters) map[periodic.Sink]periodic.Queue {
	return s.queues.with(s.db, others)
}

// taskTx is a transaction in which tasks are managed.
type taskTx struct{ *sqldb.Tx }

func (tx taskTx) Add(ctx context.Context, t periodic.Task) error {
	if t.NextRun.IsZero() {
		t.NextRun = periodic.Unplanned
	}
	err := tx.one(ctx, insertTask, append(userValues(&t), sqldb.Timestamp(t.NextRun))...)
	if errors.Is(err, sqldb.ErrNotFound) {
		return sqldb.ErrDuplicate
	}
	return err
}

func (tx taskTx) Save(ctx context.Context, t periodic.Task) error {
	return tx.one(ctx, updateTask, userValues(&t)...)
}

func (tx taskTx) Enable(ctx context.Context, id string, enabled bool) error {
	return tx.one(ctx, `UPDATE periodic_task SET enabled = $2 WHERE id = $1`, id, enabled)
}

func (tx taskTx) SetPause(ctx context.Context, id string, p periodic.Pause) error {
	return tx.one(ctx, `UPDATE periodic_task SET paused = $2, paused_until = $3, paused_by = $4, paused_reason = $5 WHERE id = $1`,
		id, sqldb.Timestamp(p.Since), sqldb.Timestamp(p.Until), sqldb.Nullable(p.By), sqldb.Nullable(p.Reason))
}

func (tx taskTx) Delete(ctx context.Context, id string) error {
	return tx.one(ctx, `DELETE FROM periodic_task WHERE id = $1`, id)
}

func (tx taskTx) Get(ctx context.Context, id string, toEdit bool) (periodic.Task, error) {
	if toEdit { // locks the row on either database; plans that were made before come to nothing, since its ticks may change
		if err := tx.one(ctx, `UPDATE periodic_task AS t SET rev = `+nextRev(tx.Tx, "$2")+` WHERE id = $1`, id, tx.Now().UnixMicro()); err != nil {
			return periodic.Task{}, err
		}
		if err := tx.RefreshNow(ctx); err != nil { // the row may have been locked for long
			return periodic.Task{}, err
		}
	}
	list, err := tasks(ctx, tx.Tx, append(slices.Clip(oneColumns), skipsColumn), `SELECT `+column.Names("", oneColumns)+`, `+
		skips(tx.Tx, "periodic_task.id")+` FROM periodic_task WHERE id = $1`, id)
	if err != nil {
		return periodic.Task{}, err
	}
	if len(list) == 0 {
		return periodic.Task{}, sqldb.ErrNotFound
	}
	return list[0], attachCalendars(ctx, tx.Tx, list)
}

func (tx taskTx) List(ctx context.Context, f periodic.TaskFilter) ([]periodic.Task, error) {
	columns := slimColumns
	switch {
	case f.WithArgs:
		columns = allColumns
	case f.Slim:
		columns = plannedColumns
	}
	selected, args := tx.selected(f)
	list, err := tasks(ctx, tx.Tx, append(slices.Clip(columns), skipsColumn),
		`SELECT `+column.Names("t.", columns)+`, `+skips(tx.Tx, "t.id")+` FROM periodic_task AS t`+selected, args...)
	if err != nil {
		return nil, err
	}
	return list, attachCalendars(ctx, tx.Tx, list)
}

// one runs a statement that must touch a row, or returns [sqldb.ErrNotFound].
func (tx taskTx) one(ctx context.Context, query string, args ...any) error {
	n, err := tx.Exec(ctx, query, args...)
	if err == nil && n == 0 {
		return sqldb.ErrNotFound
	}
	return err
}

// LockOrigins implements [periodic.TaskTx].
func (tx taskTx) LockOrigins(ctx context.Context) error { return tx.Lock(ctx, "origins") }

// SetOrigin implements [periodic.TaskTx].
func (tx taskTx) SetOrigin(ctx context.Context, ids []string, origin string) error {
	if len(ids) == 0 {
		return nil
	}
	r := tx.Texts(2, ids)
	_, err := tx.Exec(ctx, "UPDATE periodic_task SET origin = $1 WHERE id IN (SELECT v.value FROM "+r.SQL+" AS v)", sqldb.Nullable(origin), r.Param)
	return err
}

// selected is the end of a query for the tasks, aliased t, that a filter selects.
func (tx taskTx) selected(f periodic.TaskFilter) (query string, args []any) {
	limit := int64(f.Limit)
	if limit <= 0 {
		limit = math.MaxInt64
	}
	due, order := periodic.Never, "t.id"
	if !f.DueBefore.IsZero() {
		due, order = f.DueBefore, "t.nextrun, t.id"
	}
	state := batch.InState(f.State, "$9", "$10")
	args = []any{f.Task, f.Group, f.After, limit, containing(f.Search), !f.DueBefore.IsZero(), sqldb.Timestamp(due), f.ID}
	for n, at := range []time.Time{tx.Now(), tx.Now().Add(-periodic.OverdueAfter)} {
		if strings.Contains(state, "$"+strconv.Itoa(9+n)) {
			args = append(args, sqldb.Timestamp(at))
		}
	}
	return `
		WHERE ($1 = '' OR t.task = $1) AND ($2 = '' OR t.group_ = $2) AND ($3 = '' OR t.id > $3)
			AND ($5 = '' OR lower(t.id) LIKE $5 ESCAPE '\' OR lower(t.task) LIKE $5 ESCAPE '\')
			AND (NOT $6 OR t.enabled AND t.nextrun < $7 AND t.nextrun > '1970-01-01 00:00:00.000000') AND ($8 = '' OR t.id = $8)
			AND ` + state + `
		ORDER BY ` + order + ` LIMIT $4`, args
}

// containing is a pattern for LIKE of lower-case texts that contain a text; empty for
// the empty text.
func containing(text string) string {
	if text == "" {
		return ""
	}
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(text)) + "%"
}
