package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

// planned is a task that is enabled, and since when its plan is as it is.
type planned struct {
	Task  periodic.Task // with what its plan depends on
	Since time.Time
	Now   time.Time // of the database, when the row was read
}

// tasks returns a page of the enabled tasks whose ids come after one, in their order, or only the one with an id.
func (r *run) tasks(ctx context.Context, after, id string) (list []planned, err error) {
	var rows []struct {
		ID      string
		Timer   sqldb.RowText
		Due     sqldb.RowTime
		NextRun sqldb.RowTime
		Starts  sqldb.RowTime
		Ends    sqldb.RowTime
		Created sqldb.RowTime
		Since   sqldb.RowTime
		Problem sqldb.RowText
	}
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		err := tx.Select(ctx, &rows, `SELECT id, timer, due, nextrun, starts, ends, created, since, problem FROM periodic_task
			WHERE enabled AND id > $1 AND $2 IN ('', id) ORDER BY id LIMIT $3`, after, id, taskPage)
		for _, row := range rows {
			list = append(list, planned{Now: tx.Now(), Since: row.Since.Time(), Task: periodic.Task{
				ID: row.ID, Enabled: true, Timer: string(row.Timer), Due: row.Due.Time(), NextRun: row.NextRun.Time(),
				Starts: row.Starts.Time(), Ends: row.Ends.Time(), Created: row.Created.Time(), Problem: string(row.Problem),
			}})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the plans of tasks: %w", err)
	}
	return list, nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// recorded is a recorded tick, or a range of missed ones.
type recorded struct {
	periodic.Range
	// Extra says that no scheduler has decided it: a hook that submits the task, or a
	// backfill, has. The timer need not have it.
	Extra bool
}

// ticks returns the recorded ticks of a task from a time on, by their due times, at
// most n.
func (r *run) ticks(ctx context.Context, id string, from time.Time, n int) (list []recorded, err error) {
	var rows []struct {
		Due, Until sqldb.RowTime
		Extra      sqldb.RowBool
	}
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &rows, `SELECT due, until, worker IS NULL AS extra FROM periodic_tick WHERE task_id = $1 AND due >= $2 AND decided IS NOT NULL ORDER BY due LIMIT $3`,
			id, sqldb.Timestamp(from), n)
	})
	if err != nil {
		return nil, fmt.Errorf("read the ticks of task %q: %w", id, err)
	}
	for _, row := range rows {
		list = append(list, recorded{periodic.Range{First: row.Due.Time(), Last: later(row.Due.Time(), row.Until.Time())}, bool(row.Extra)})
	}
	return list, nil
}
