package schedule

import (
	"context"

	"github.com/nextrun/nextrun/periodic/backend"
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
func (tx schedulerTx) Advance(ctx context.Context, plans []task.Plan) error {
	r, err := planRecords(tx.DB(), plans)
	if err != nil {
		return err
	}
	n, err := tx.Exec(ctx, `UPDATE periodic_task AS t SET `+planned+` FROM `+r.SQL+` AS plan WHERE t.id = plan.task_id`,
		r.Param, manualAgain)
	if err == nil && n < int64(len(plans)) { // nobody else can have changed them
		err = backend.ErrSuppressed
	}
	return err
}
