package figures

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// Latest is a task and when its newest tick fell due.
type Latest struct {
	ID      string
	Task    string    // the name of its handler
	Due     time.Time // zero: it has had none
	NextRun time.Time
	State   string // enabled, paused or disabled
}

// Latest reads when the newest tick of each task fell due, the latest first.
func (r Reader) Latest(ctx context.Context) (list []Latest, err error) {
	var rows []struct {
		ID      string
		Task    sqldb.RowText
		Due     sqldb.RowTime
		NextRun sqldb.RowTime
		State   string
	}
	err = r.db.View(ctx, func(tx *sqldb.Tx) error { return tx.Select(ctx, &rows, latest, sqldb.Timestamp(tx.Now())) })
	if err != nil {
		return nil, fmt.Errorf("read the newest ticks: %w", err)
	}
	for _, row := range rows {
		list = append(list, Latest{row.ID, string(row.Task), row.Due.Time(), row.NextRun.Time(), row.State})
	}
	return list, nil
}

// latest reads one entry of the primary key of periodic_tick for each task.
const latest = `SELECT id, task, due, nextrun, state FROM (SELECT t.id, t.task, t.nextrun, CASE WHEN NOT t.enabled THEN 'disabled'
		WHEN t.paused IS NOT NULL AND (t.paused_until IS NULL OR t.paused_until > $1) THEN 'paused' ELSE 'enabled' END AS state,
		(SELECT k.due FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 1) AS due
	FROM periodic_task AS t) AS l ORDER BY due IS NULL, due DESC, id`
