package schedule

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/taskdb"
)

// JoexEnds implements [taskdb.Store]. The name of a worker of nextrun has an @, that of a joex has none.
// Whoever comes second finds that the outcome is there.
func (s Store) JoexEnds(ctx context.Context, hooks taskdb.Hooks) (ended []taskdb.EndedTick, err error) {
	err = s.db.UpdateWithin(ctx, sqldb.BatchLockWait, func(db *sqldb.Tx) error {
		tx := endsTx{db}
		var rows []tickRow
		err := tx.Select(ctx, &rows, `UPDATE periodic_tick SET outcome = e.state, finished = e.finished, attempts = e.attempts,
				error = CASE WHEN e.state = 'failed' THEN 'Docspell''s log has the reason: nextrun job log ' || e.jid END
			FROM (SELECT j.tracker, j.due, j.jid, j.state, j.finished, j.retries + 1 AS attempts
				FROM job AS j WHERE j.finished > $1 AND j.state IN ('success', 'failed', 'cancelled') AND j.worker NOT LIKE '%@%') AS e
			WHERE periodic_tick.task_id = e.tracker AND periodic_tick.due = e.due AND periodic_tick.jid = e.jid AND periodic_tick.outcome IS NULL
			RETURNING task_id, periodic_tick.due, decision, periodic_tick.jid, decided, outcome, periodic_tick.finished, periodic_tick.attempts, error`,
			sqldb.Timestamp(tx.Now().Add(-time.Hour)))
		if err != nil || len(rows) == 0 {
			return err
		}
		if ended, err = tx.withTasks(ctx, rows); err != nil {
			return err
		}
		return tx.tellHooks(ctx, hooks, ended)
	})
	return ended, wrapEnds(err)
}
