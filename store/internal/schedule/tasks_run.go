package schedule

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

func (tx taskTx) Run(ctx context.Context, id string) error {
	return tx.one(ctx, `UPDATE periodic_task SET nextrun = $2 WHERE id = $1`, id, sqldb.Timestamp(tx.Now()))
}

func (tx taskTx) Bare() (jobqueue.DBTX, time.Time) { return tx.DBTX(), tx.Now() }

func (tx taskTx) Record(ctx context.Context, tick periodic.Tick) (bool, error) {
	// A scheduler that works on the task has to decide anew: it does not know of
	// this tick.
	if _, err := tx.Exec(ctx, `UPDATE periodic_task SET worker = NULL, marked = NULL
		WHERE id = $1 AND worker IS NOT NULL`, tick.TaskID); err != nil {
		return false, err
	}
	if !tick.Until.IsZero() {
		_, err := tx.Exec(ctx, `UPDATE periodic_tick SET due = $3, missed = CASE WHEN missed > 0 THEN missed - 1 ELSE missed END
			WHERE task_id = $1 AND due = $2 AND decision = 'missed' AND until >= $3`,
			tick.TaskID, sqldb.Timestamp(tick.Due), sqldb.Timestamp(tick.Until))
		if err != nil {
			return false, err
		}
	}
	n, err := tx.Exec(ctx, `INSERT INTO periodic_tick (task_id, due, decision, reason, jid, decided)
		VALUES ($1, $2, $6, $3, $4, $5)
		ON CONFLICT (task_id, due) DO UPDATE SET decision = excluded.decision, reason = excluded.reason,
			jid = excluded.jid, decided = excluded.decided, missed = 0, until = NULL, worker = NULL
		WHERE excluded.decision = 'submitted' AND periodic_tick.decision IN ('skipped', 'late', 'missed')`,
		tick.TaskID, sqldb.Timestamp(tick.Due), tick.Reason, sqldb.Nullable(tick.JID), sqldb.Timestamp(tx.Now()), string(tick.Decision))
	return n > 0, err
}
