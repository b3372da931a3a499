package schedule

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

func (tx taskTx) Run(ctx context.Context, id string) error {
	return tx.one(ctx, `UPDATE periodic_task SET nextrun = $2 WHERE id = $1`, id, sqldb.Timestamp(tx.Now()))
}

func (tx taskTx) Reopen(ctx context.Context, tick periodic.Tick) error {
	return tx.one(ctx, `UPDATE periodic_tick SET outcome = NULL, finished = NULL, attempts = NULL, error = NULL
		WHERE task_id = $1 AND due = $2 AND jid = $3 AND outcome IN ('failed', 'cancelled')`, tick.TaskID, sqldb.Timestamp(tick.Due), tick.JID)
}

func (tx taskTx) Bare() (jobqueue.DBTX, time.Time) { return tx.DBTX(), tx.Now() }

func (tx taskTx) Record(ctx context.Context, tick periodic.Tick) (bool, error) {
	// Who has marked the task has to decide anew: it does not know of this tick.
	if _, err := tx.Exec(ctx, `UPDATE periodic_task SET worker = NULL, marked = NULL
		WHERE id = $1 AND worker IS NOT NULL`, tick.TaskID); err != nil {
		return false, err
	}
	if !tick.Until.IsZero() {
		_, err := tx.Exec(ctx, `UPDATE periodic_tick SET due = $3, missed = CASE WHEN missed > 0 THEN missed - 1 ELSE missed END
			WHERE task_id = $1 AND due = $2 AND decision IN ('missed', 'skipped') AND until >= $3`,
			tick.TaskID, sqldb.Timestamp(tick.Due), sqldb.Timestamp(tick.Until))
		if err != nil {
			return false, err
		}
	}
	tick.Decided = tx.Now()
	n, err := tx.Exec(ctx, `INSERT INTO periodic_tick (task_id, due, decision, reason, jid, decided, nominal)
		VALUES ($1, $2, $6, $3, $4, $5, $7)
		ON CONFLICT (task_id, due) DO UPDATE SET decision = excluded.decision, reason = excluded.reason,
			jid = excluded.jid, decided = excluded.decided, missed = 0, until = NULL, worker = NULL
		WHERE excluded.decision = 'submitted' AND periodic_tick.decision IN ('skipped', 'late', 'missed')`,
		tick.TaskID, sqldb.Timestamp(tick.Due), tick.Reason, sqldb.Nullable(tick.JID), sqldb.Timestamp(tick.Decided), string(tick.Decision), sqldb.Timestamp(tick.Nominal))
	return n > 0, err
}

// SetOverride implements [periodic.TaskTx].
func (tx rowTx) SetOverride(ctx context.Context, id string, o days.Override) error {
	values := []any{id, sqldb.Timestamp(o.Due), sqldb.Timestamp(o.To), sqldb.Nullable(o.Who), sqldb.Nullable(o.Reason)}
	err := tx.one(ctx, `UPDATE periodic_override SET moved_to = $3, who = $4, reason = $5 WHERE task_id = $1 AND due = $2`, values...)
	if errors.Is(err, sqldb.ErrNotFound) {
		_, err = tx.Exec(ctx, `INSERT INTO periodic_override (task_id, due, moved_to, who, reason) VALUES ($1, $2, $3, $4, $5)`, values...)
	}
	return err
}

// DropOverride implements [periodic.TaskTx].
func (tx rowTx) DropOverride(ctx context.Context, id string, due time.Time) error {
	return tx.one(ctx, `DELETE FROM periodic_override WHERE task_id = $1 AND due = $2`, id, sqldb.Timestamp(due))
}
