package tasks

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

func (tx taskTx) RunAt(ctx context.Context, id string, at time.Time) error {
	return tx.one(ctx, `UPDATE periodic_task SET nextrun = $2 WHERE id = $1`, id, sqldb.Timestamp(at))
}

func (tx taskTx) Reopen(ctx context.Context, tick periodic.Tick) error {
	return tx.one(ctx, `UPDATE periodic_tick SET outcome = NULL, finished = NULL, attempts = NULL, error = NULL
		WHERE task_id = $1 AND due = $2 AND jid = $3 AND outcome IN ('failed', 'cancelled')`, tick.TaskID, sqldb.Timestamp(tick.Due), tick.JID)
}

func (tx taskTx) Bare() (jobqueue.DBTX, time.Time) { return tx.DBTX(), tx.Now() }

func (tx taskTx) Record(ctx context.Context, tick periodic.Tick) (bool, error) {
	// Who has marked the task does not know of this tick, and has to decide again.
	if _, err := tx.Exec(ctx, `UPDATE periodic_task SET worker = NULL, marked = NULL
		WHERE id = $1 AND worker IS NOT NULL`, tick.TaskID); err != nil {
		return false, err
	}
	if !tick.Until.IsZero() {
		// Ticks that were missed together, of which this one was the first or another one.
		_, err := tx.Exec(ctx, `UPDATE periodic_tick SET due = CASE due WHEN $2 THEN $3 ELSE due END, missed = CASE WHEN missed > 0 THEN missed - 1 ELSE missed END
			WHERE task_id = $1 AND decision IN ('missed', 'skipped') AND (due = $2 AND until >= $3 OR due < $2 AND until >= $2
				AND NOT EXISTS (SELECT 1 FROM periodic_tick AS k WHERE k.task_id = $1 AND k.due = $2))`,
			tick.TaskID, sqldb.Timestamp(tick.Due), sqldb.Timestamp(tick.Until))
		if err != nil {
			return false, err
		}
	}
	tick.Decided = tx.Now()
	n, err := tx.Exec(ctx, `INSERT INTO periodic_tick (task_id, due, decision, reason, jid, decided, cause)
		VALUES ($1, $2, $6, $3, $4, $5, $7)
		ON CONFLICT (task_id, due) DO UPDATE SET decision = excluded.decision, cause = excluded.cause, reason = excluded.reason,
			jid = excluded.jid, decided = excluded.decided, missed = 0, until = NULL, worker = NULL
		WHERE excluded.decision = 'submitted' AND periodic_tick.decision IN ('skipped', 'late', 'missed')`,
		tick.TaskID, sqldb.Timestamp(tick.Due), tick.Reason, sqldb.Nullable(tick.JID), sqldb.Timestamp(tick.Decided), string(tick.Decision), sqldb.Nullable(string(tick.Cause)))
	return n > 0, err
}

// skips is an expression for the skips of a task, as [readSkips] reads them: one text, so that they come with the
// row, in the same statement. It is NULL or [] for a task that has none. While nobody has any, the database asks once
// for a whole statement.
func skips(tx *sqldb.Tx, taskID string) string {
	list := `SELECT json_agg(json_build_array(to_char(s.due, 'YYYY-MM-DD HH24:MI:SS.US'), s.reason))::text`
	if tx.SQL().IsSQLite() {
		list = `SELECT json_group_array(json_array(s.due, s.reason))`
	}
	return `CASE WHEN (SELECT min(task_id) FROM periodic_tick WHERE decided IS NULL) IS NOT NULL THEN (` + list + `
		FROM (SELECT due, reason FROM periodic_tick WHERE task_id = ` + taskID + ` AND decided IS NULL ORDER BY due) AS s) END`
}

// skipsColumn is a column of queries that have [skips].
var skipsColumn = periodic.Column{Name: "skips", Field: column.In(column.Text,
	func(t *periodic.Task) *[]days.LeftOut { return &t.Days.Skips },
	func([]days.LeftOut, *column.Value) {},
	func(v column.Value) []days.LeftOut { return readSkips(v.Text) })}

// readSkips reads what [skips] yields. What cannot be read is left out.
func readSkips(text string) (list []days.LeftOut) {
	var rows [][2]string // NULL is the empty text
	if text == "" || json.Unmarshal([]byte(text), &rows) != nil {
		return nil
	}
	for _, r := range rows {
		if due, err := time.Parse("2006-01-02 15:04:05", r[0]); err == nil {
			list = append(list, days.LeftOut{Due: due, Reason: r[1]})
		}
	}
	return list
}

// Skip implements [periodic.TaskTx].
func (tx taskTx) Skip(ctx context.Context, id string, s days.LeftOut) error {
	n, err := tx.Exec(ctx, `INSERT INTO periodic_tick (task_id, due, decision, reason) VALUES ($1, $2, 'skipped', $3)
		ON CONFLICT (task_id, due) DO UPDATE SET reason = excluded.reason WHERE periodic_tick.decided IS NULL`,
		id, sqldb.Timestamp(s.Due), sqldb.Nullable(s.Reason))
	if err == nil && n == 0 {
		err = sqldb.ErrDuplicate
	}
	return err
}

// Unskip implements [periodic.TaskTx].
func (tx taskTx) Unskip(ctx context.Context, id string, due time.Time) error {
	return tx.one(ctx, `DELETE FROM periodic_tick WHERE task_id = $1 AND due = $2 AND decided IS NULL`, id, sqldb.Timestamp(due))
}
