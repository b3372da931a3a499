package tasks

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

func (tx schedulerTx) SetProblem(ctx context.Context, id, problem string) error {
	_, err := tx.Exec(ctx, `UPDATE periodic_task SET problem = $1 WHERE id IN (
		SELECT id FROM periodic_task WHERE id = $2`+tx.SQL().ForUpdate+`)`, problem, id)
	return err
}

// knownOverlap leaves tasks with a policy of a newer version to the schedulers that have it.
const knownOverlap = `overlap IN ('` + string(periodic.OverlapSkip) + `', '` + string(periodic.OverlapQueue) + `', '` + string(periodic.OverlapReplace) + `', '` + string(periodic.OverlapAllow) + `')`

// isStray is true for a task that should have been taken $1 ago, and whose
// problem does not say why it was not.
const isStray = canBeDue + ` AND nextrun <= $1 AND (problem IS NULL OR problem LIKE '` + periodic.WarningPrefix + `%')
	AND (NOT ` + knownOverlap + ` AND since <= $1 OR nextrun > $2 AND sink NOT IN `

// Stray implements scheduler.Store.
func (s Store) Stray(ctx context.Context, after time.Duration, known []periodic.Sink, problem func(*periodic.Task) string) ([]periodic.Task, error) {
	var found []periodic.Task
	err := s.db.UpdateWithin(ctx, sqldb.BatchLockWait, func(outer *sqldb.Tx) error {
		tx := schedulerTx{outer}
		args := []any{sqldb.Timestamp(tx.Now().Add(-after)), sqldb.Timestamp(periodic.Unplanned)}
		var rows []struct{ ID, Timer, Sink, Overlap string }
		err := tx.Select(ctx, &rows, `SELECT id, timer, sink, overlap FROM periodic_task
			WHERE `+isStray+`(`+placeholders(&args, known)+`)) ORDER BY nextrun LIMIT 100`, args...)
		if err != nil {
			return err
		}
		for _, r := range rows {
			t := periodic.Task{ID: r.ID, Timer: r.Timer, Sink: periodic.Sink(r.Sink), Overlap: periodic.Overlap(r.Overlap)}
			t.Problem = problem(&t)
			if err := tx.SetProblem(ctx, t.ID, t.Problem); err != nil {
				return err
			}
			found = append(found, t)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for tasks that no scheduler has taken: %w", err)
	}
	return found, nil
}
