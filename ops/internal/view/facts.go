package view

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

// Facts reads what the status of tasks follows from, with so many of their newest runs.
func (r Reader) Facts(ctx context.Context, tasks []periodic.Task, runs int) ([]Facts, error) {
	list, ids := make([]Facts, len(tasks)), make([]string, len(tasks))
	for i := range tasks {
		ids[i] = tasks[i].ID
	}
	newest, err := r.Newest(ctx, ids, max(runs, Judged), periodic.Never)
	if err != nil {
		return nil, err
	}
	var wrong []string
	for i := range tasks {
		f := &list[i]
		f.Task, f.Runs = &tasks[i], newest[ids[i]]
		if ended := f.ended(); ended != "" && ended != OK {
			wrong = append(wrong, ids[i])
		}
	}
	streaks, err := r.Streaks(ctx, wrong)
	if err != nil {
		return nil, err
	}
	due, now, err := r.due(ctx, ids)
	for i := range list {
		d := due[ids[i]]
		list[i].Streak, list[i].Since, list[i].Waits, list[i].Now = streaks[ids[i]], d.Since.Time(), d.Waits == 1, now
		if at := d.Expected.Time(); !at.IsZero() {
			list[i].Stale = &Stale{at, d.Success.Time()}
		}
	}
	if err != nil {
		return nil, err
	}
	return list, r.readBefore(ctx, list, due)
}

// readBefore reads the last runs of tasks whose newest ticks did not run.
func (r Reader) readBefore(ctx context.Context, list []Facts, due map[string]dueRow) error {
	var keys []periodic.TickKey
	for i := range list {
		if at := due[list[i].Task.ID].Submitted.Time(); !at.IsZero() && list[i].Last() == nil {
			keys = append(keys, periodic.TickKey{TaskID: list[i].Task.ID, Due: at})
		}
	}
	runs, err := r.Of(ctx, keys)
	for i := range list {
		if at := slices.IndexFunc(runs, func(one Run) bool { return one.TaskID == list[i].Task.ID }); at >= 0 {
			list[i].Before = &runs[at]
		}
	}
	return err
}

// dueRow is what is due of a task.
type dueRow struct {
	ID                                  string
	Waits                               int
	Since, Expected, Success, Submitted sqldb.RowTime
}

func (r Reader) due(ctx context.Context, ids []string) (of map[string]dueRow, now time.Time, err error) {
	var rows []dueRow
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		now = tx.Now()
		asked, err := tx.Texts(1, ids)
		if err != nil || len(ids) == 0 {
			return err
		}
		return tx.Select(ctx, &rows, `SELECT t.id, t.since, CASE WHEN `+sqldb.Waits+` THEN 1 ELSE 0 END AS waits,
				(SELECT s.expected FROM periodic_stale AS s WHERE s.id = t.id) AS expected, (SELECT s.last_success FROM periodic_stale AS s WHERE s.id = t.id) AS success,
				(SELECT k.due FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'submitted' ORDER BY k.due DESC LIMIT 1) AS submitted
			FROM periodic_task AS t WHERE t.id IN (SELECT v.value FROM `+asked.SQL+` AS v)`, asked.Param)
	})
	of = make(map[string]dueRow, len(rows))
	for _, row := range rows {
		of[row.ID] = row
	}
	if err != nil {
		err = fmt.Errorf("read what is due of tasks: %w", err)
	}
	return of, now, err
}
