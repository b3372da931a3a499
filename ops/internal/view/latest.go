package view

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// Latest is a task and when its newest tick fell due.
type Latest struct {
	ID      string
	Task    string    // the name of its handler
	Due     time.Time // zero: it has had none
	NextRun time.Time
	State   State     // disabled, blocked or paused; empty: none of these
	Until   time.Time // of its pause, if it ends by itself
	By      string    // who has paused it
}

// LatestTasks are the first of several tasks, those with the latest tick first.
type LatestTasks struct {
	All   int // how many there are
	First []Latest
}

// Latest reads which tasks have had a tick since a time, and which have not: of both the first.
func (r Reader) Latest(ctx context.Context, since time.Time, most int) (ran, silent LatestTasks, err error) {
	var rows []latestRow
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &rows, latest, sqldb.Timestamp(tx.Now()), sqldb.Timestamp(since), most)
	})
	if err != nil {
		return ran, silent, fmt.Errorf("read the newest ticks: %w", err)
	}
	for _, row := range rows {
		of := &silent
		if !row.Due.Time().Before(since) {
			of = &ran
		}
		of.All, of.First = row.Tasks, append(of.First, Latest{row.ID, string(row.Task), row.Due.Time(), row.NextRun.Time(), State(row.State), row.Until.Time(), string(row.By)})
	}
	return ran, silent, nil
}

type latestRow struct {
	ID      string
	Task    sqldb.RowText
	Due     sqldb.RowTime
	NextRun sqldb.RowTime
	State   string
	Until   sqldb.RowTime
	By      sqldb.RowText `db:"paused_by"`
	Tasks   int
}

// latest reads one entry of the primary key of periodic_tick for each task.
var latest = `WITH l AS MATERIALIZED (SELECT t.id, t.task, t.nextrun, t.paused_until AS until, t.paused_by, CASE WHEN ` + batch.InState(periodic.TaskDisabled, "$1", "") + ` THEN 'disabled'
			WHEN ` + batch.InState(periodic.TaskBlocked, "$1", "") + ` THEN 'blocked' WHEN ` + batch.InState(periodic.TaskPaused, "$1", "") + ` THEN 'paused' ELSE '' END AS state,
		coalesce((SELECT k.due FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decided IS NOT NULL ORDER BY k.due DESC LIMIT 1), '0001-01-01 00:00:00.000000') AS due
	FROM periodic_task AS t)
	SELECT * FROM (SELECT id, task, nextrun, until, paused_by, state, due, (SELECT count(*) FROM l WHERE due >= $2) AS tasks FROM l WHERE due >= $2 ORDER BY due DESC, id LIMIT $3) AS ran
	UNION ALL SELECT * FROM (SELECT id, task, nextrun, until, paused_by, state, due, (SELECT count(*) FROM l WHERE due < $2) AS tasks FROM l WHERE due < $2 ORDER BY due DESC, id LIMIT $3) AS silent`
