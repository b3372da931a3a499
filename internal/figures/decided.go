package figures

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Decided is a decision of a scheduler about a tick; without TaskID none is recorded.
type Decided struct {
	TaskID, Decision, Worker string
	Due, At                  time.Time
}

// LastDecided reads the newest decision about a task that there is, and the newest one that submitted a job.
func (r Reader) LastDecided(ctx context.Context) (newest, submitted Decided, err error) {
	var rows []struct {
		TaskID       string `db:"task_id"`
		Sent         int
		Decision     sqldb.RowText
		Worker       sqldb.RowText
		Due, Decided sqldb.RowTime
	}
	err = r.db.View(ctx, func(tx *sqldb.Tx) error { return tx.Select(ctx, &rows, lastDecided) })
	if err != nil {
		return newest, submitted, fmt.Errorf("read what was decided last: %w", err)
	}
	for _, row := range rows {
		d := Decided{row.TaskID, string(row.Decision), string(row.Worker), row.Due.Time(), row.Decided.Time()}
		if row.Sent == 1 {
			submitted = d
		} else {
			newest = d
		}
	}
	return newest, submitted, nil
}

// lastDecided reads two entries of the primary key of periodic_tick for each task.
var lastDecided = `WITH l AS MATERIALIZED (SELECT t.id, (SELECT max(k.due) FROM periodic_tick AS k WHERE k.task_id = t.id) AS due,
		(SELECT k.due FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'submitted' ORDER BY k.due DESC LIMIT 1) AS sent FROM periodic_task AS t)
	SELECT * FROM (SELECT k.task_id, 0 AS sent, k.decision, k.worker, k.due, k.decided FROM l JOIN periodic_tick AS k ON k.task_id = l.id AND k.due = l.due
		ORDER BY k.decided DESC LIMIT 1) AS newest
	UNION ALL SELECT * FROM (SELECT k.task_id, 1 AS sent, k.decision, k.worker, k.due, k.decided FROM l JOIN periodic_tick AS k ON k.task_id = l.id AND k.due = l.sent
		ORDER BY k.decided DESC LIMIT 1) AS submitted`
