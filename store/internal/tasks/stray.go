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

// isStray is true for a task that should have been taken $1 ago, and whose
// problem does not say why it was not.
const isStray = canBeDue + ` AND nextrun <= $1 AND nextrun > $2
	AND (problem IS NULL OR problem LIKE '` + periodic.WarningPrefix + `%') AND sink NOT IN `

// Stray implements scheduler.Store.
func (s Store) Stray(ctx context.Context, after time.Duration, known []periodic.Sink, problem func(periodic.Sink) string) ([]periodic.Task, error) {
	var found []periodic.Task
	err := s.db.UpdateWithin(ctx, sqldb.BatchLockWait, func(outer *sqldb.Tx) error {
		tx := schedulerTx{outer}
		args := []any{sqldb.Timestamp(tx.Now().Add(-after)), sqldb.Timestamp(periodic.Unplanned)}
		var rows []struct{ ID, Sink string }
		err := tx.Select(ctx, &rows, `SELECT id, sink FROM periodic_task
			WHERE `+isStray+`(`+placeholders(&args, known)+`) ORDER BY nextrun LIMIT 100`, args...)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := tx.SetProblem(ctx, r.ID, problem(periodic.Sink(r.Sink))); err != nil {
				return err
			}
			found = append(found, periodic.Task{ID: r.ID, Sink: periodic.Sink(r.Sink)})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for tasks whose sink is not known: %w", err)
	}
	return found, nil
}
