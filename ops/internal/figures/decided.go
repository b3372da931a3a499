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

// LastDecided reads the newest decision of a scheduler about a tick, and the newest one that submitted a job, whoever made it. If it
// is older than an hour, the first is found among the three newest of each task, the second among ten.
func (r Reader) LastDecided(ctx context.Context) (newest, submitted Decided, err error) {
	var rows []struct {
		TaskID       string `db:"task_id"`
		Sent         int
		Decision     sqldb.RowText
		Worker       sqldb.RowText
		Due, Decided sqldb.RowTime
	}
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		for _, age := range []time.Duration{time.Minute, time.Hour} {
			if tx.SQL().IsSQLite() { // it has no index of when ticks were decided
				break
			}
			rows = nil
			if err := tx.Select(ctx, &rows, lately, sqldb.Timestamp(tx.Now().Add(-age))); err != nil || len(rows) == 2 {
				return err
			}
		}
		rows = nil
		return tx.Select(ctx, &rows, lastDecided, lastOf)
	})
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

// lately reads what was decided since a time.
const lately = `SELECT * FROM (SELECT task_id, 0 AS sent, decision, worker, due, decided FROM periodic_tick WHERE decided >= $1 AND worker IS NOT NULL
		ORDER BY decided DESC LIMIT 1) AS newest
	UNION ALL SELECT * FROM (SELECT task_id, 1 AS sent, decision, worker, due, decided FROM periodic_tick WHERE decided >= $1 AND decision = 'submitted'
		ORDER BY decided DESC LIMIT 1) AS submitted`

// lastOf is among how many of the newest ticks of each task one that was submitted is looked for.
const lastOf = 10

// lastDecided reads some entries of the primary key of periodic_tick for each task.
const lastDecided = `WITH l AS MATERIALIZED (SELECT t.id, (SELECT n.due FROM (SELECT k.due, k.worker FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decided IS NOT NULL ORDER BY k.due DESC LIMIT 3) AS n
			WHERE n.worker IS NOT NULL ORDER BY n.due DESC LIMIT 1) AS due,
		(SELECT n.due FROM (SELECT k.due, k.decision FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decided IS NOT NULL ORDER BY k.due DESC LIMIT $1) AS n
			WHERE n.decision = 'submitted' ORDER BY n.due DESC LIMIT 1) AS sent FROM periodic_task AS t)
	SELECT * FROM (SELECT k.task_id, 0 AS sent, k.decision, k.worker, k.due, k.decided FROM l JOIN periodic_tick AS k ON k.task_id = l.id AND k.due = l.due
		ORDER BY k.decided DESC LIMIT 1) AS newest
	UNION ALL SELECT * FROM (SELECT k.task_id, 1 AS sent, k.decision, k.worker, k.due, k.decided FROM l JOIN periodic_tick AS k ON k.task_id = l.id AND k.due = l.sent
		ORDER BY k.decided DESC LIMIT 1) AS submitted`
