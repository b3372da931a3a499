package view

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
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
		if ended := f.ended(); ended != "" && ended != OK || f.Success().IsZero() && len(f.Runs) >= Judged {
			wrong = append(wrong, ids[i])
		}
	}
	streaks, err := r.Streaks(ctx, wrong)
	if err != nil {
		return nil, err
	}
	due, now, err := r.due(ctx, ids)
	if err != nil {
		return nil, err
	}
	var open []string
	for i := range list {
		f, d := &list[i], due[ids[i]]
		f.Streak, f.Since, f.Waits, f.Now = streaks[ids[i]], d.Since.Time(), d.Waits == 1, now
		if len(f.Runs) == 0 || f.Runs[0].State != "success" || f.Late() > 0 {
			open = append(open, ids[i]) // of others, all is done that must be
		}
	}
	stale, err := r.stale(ctx, open)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Stale = stale[ids[i]]
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
	ID               string
	Waits            int
	Since, Submitted sqldb.RowTime
}

func (r Reader) due(ctx context.Context, ids []string) (of map[string]dueRow, now time.Time, err error) {
	var rows []dueRow
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		now = tx.Now()
		asked, err := tx.Texts(1, ids)
		if err != nil || len(ids) == 0 {
			return err
		}
		return tx.Select(ctx, &rows, `SELECT t.id, t.since, CASE WHEN `+batch.Waits+` THEN 1 ELSE 0 END AS waits,
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

// stale reads of which of these tasks no run has succeeded in time. A subquery for each keeps PostgreSQL from judging all tasks.
func (r Reader) stale(ctx context.Context, ids []string) (map[string]*Stale, error) {
	var rows []struct {
		ID                string
		Expected, Success sqldb.RowTime
	}
	err := r.db.View(ctx, func(tx *sqldb.Tx) error {
		asked, err := tx.Texts(1, ids)
		if err != nil || len(ids) == 0 {
			return err
		}
		return tx.Select(ctx, &rows, `SELECT v.value AS id, (SELECT s.expected FROM periodic_stale AS s WHERE s.id = v.value) AS expected,
				(SELECT s.last_success FROM periodic_stale AS s WHERE s.id = v.value) AS success FROM `+asked.SQL+` AS v`, asked.Param)
	})
	of := make(map[string]*Stale, len(rows))
	for _, row := range rows {
		if at := row.Expected.Time(); !at.IsZero() {
			of[row.ID] = &Stale{at, row.Success.Time()}
		}
	}
	if err != nil {
		err = fmt.Errorf("read which tasks are stale: %w", err)
	}
	return of, err
}
