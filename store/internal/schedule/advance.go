package schedule

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/periodic/task"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// manualAgain is the problem of a task whose tick set by a user exists already.
var manualAgain = task.Warning("nextrun was set to a time that has a tick already; no second job was submitted")

// planRecords are plans as records for the first placeholder.
func planRecords(db *sqldb.DB, plans []task.Plan) (sqldb.Records, error) {
	columns := []sqldb.Field{sqldb.Text("task_id"), sqldb.Time("due"), sqldb.Time("nextrun"), sqldb.Text("problem"), sqldb.Time("hand")}
	return db.Records(1, columns, len(plans), func(i int) []any {
		p := &plans[i]
		return []any{p.Task.ID, p.Due, p.NextRun, sqldb.Nullable(p.Problem), p.Manual}
	})
}

// planned sets the columns of a task t to those of its plan. Its placeholder $2 is
// manualAgain.
const planned = `due = plan.due, nextrun = plan.nextrun,
	problem = CASE WHEN plan.hand IS NOT NULL AND EXISTS (
			SELECT 1 FROM periodic_tick AS k WHERE k.task_id = plan.task_id AND k.due = plan.hand) THEN $2
		WHEN plan.problem IS NOT NULL THEN plan.problem
		WHEN t.problem LIKE '` + task.WarningPrefix + ` args%' THEN t.problem END`

// Advance implements [backend.Tx].
func (tx schedulerTx) Advance(ctx context.Context, mark string, plans []task.Plan) ([]string, error) {
	if mark == "" {
		return tx.advanceHeld(ctx, plans)
	}
	kept, err := tx.advanceMarked(ctx, mark, plans)
	if err != nil || len(kept) == len(plans) {
		return kept, err
	}
	left, err := tx.lockLeft(ctx, mark, plans, kept)
	if err != nil || len(left) == 0 {
		return kept, err
	}
	// Somebody had them locked a moment ago, or a trigger suppresses the change.
	more, err := tx.advanceMarked(ctx, mark, left)
	if err == nil && len(more) < len(left) {
		err = fmt.Errorf("plan the next tick: %w", errSuppressed)
	}
	return append(kept, more...), err
}

// advanceMarked writes the plans of tasks that have our mark, and returns their ids.
func (tx schedulerTx) advanceMarked(ctx context.Context, mark string, plans []task.Plan) (kept []string, err error) {
	r, err := planRecords(tx.DB(), plans)
	if err != nil {
		return nil, err
	}
	// All tasks of a batch share the time of their mark, which finds them among the
	// marks of others. The rows are locked first: one that somebody else has locked
	// is left out and keeps its mark, so that nobody waits for it. IS TRUE keeps
	// PostgreSQL from joining the plans a second time, which takes far longer.
	err = tx.Select(ctx, &kept, `WITH plan AS (SELECT * FROM `+r.SQL+` AS v),
		held AS (SELECT id AS held_id FROM periodic_task WHERE worker = $3 AND marked = $4
			AND (id IN (SELECT task_id FROM plan)) IS TRUE`+tx.SQL().LockRows+`)
		UPDATE periodic_task AS t SET worker = NULL, marked = NULL, `+planned+`
		FROM plan, held WHERE t.id = plan.task_id AND held_id = plan.task_id
		RETURNING id`, r.Param, manualAgain, mark, sqldb.Timestamp(plans[0].Task.Marked))
	return kept, err
}

// advanceHeld writes the plans of tasks that this transaction has locked.
func (tx schedulerTx) advanceHeld(ctx context.Context, plans []task.Plan) ([]string, error) {
	r, err := planRecords(tx.DB(), plans)
	if err != nil {
		return nil, err
	}
	n, err := tx.Exec(ctx, `UPDATE periodic_task AS t SET `+planned+` FROM `+r.SQL+` AS plan WHERE t.id = plan.task_id`,
		r.Param, manualAgain)
	if err != nil {
		return nil, err
	}
	if n < int64(len(plans)) { // nobody else can have changed them
		return nil, fmt.Errorf("plan the next tick: %w", errSuppressed)
	}
	ids := make([]string, len(plans))
	for i := range plans {
		ids[i] = plans[i].Task.ID
	}
	return ids, nil
}
