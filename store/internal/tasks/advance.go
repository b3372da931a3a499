package tasks

import (
	"context"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/reasons"
)

// manualAgain is the problem of a task whose tick set by a user exists already.
var manualAgain = reasons.Warning("nextrun was set to a time that has a tick already; no second job was submitted")

// planRecords are plans as records for the first placeholder.
func planRecords(db *sqldb.DB, plans []periodic.Plan) (sqldb.Records, error) {
	version, row := sqldb.Int("version"), sqldb.Row("row_id")
	if db.SQL().IsSQLite() {
		version, row = sqldb.Text("version"), sqldb.Text("row_id")
	}
	columns := []sqldb.Field{sqldb.Text("task_id"), version, row, sqldb.Time("due"), sqldb.Time("nextrun"), sqldb.Text("problem"), sqldb.Time("hand")}
	return db.Records(1, columns, len(plans), func(i int) []any {
		p := &plans[i]
		return []any{p.Task.ID, p.Task.Version, p.Task.RowID, p.Due, p.NextRun, sqldb.Nullable(p.Problem), p.Manual}
	})
}

// planned sets the columns of a task t to those of its plan. Its placeholder $2 is
// manualAgain.
const planned = `due = plan.due, nextrun = plan.nextrun,
	problem = CASE WHEN plan.hand IS NOT NULL AND EXISTS (
			SELECT 1 FROM periodic_tick AS k WHERE k.task_id = plan.task_id AND k.due = plan.hand AND k.decided IS NOT NULL) THEN $2
		WHEN plan.problem IS NOT NULL THEN plan.problem
		WHEN t.problem LIKE '` + reasons.WarningPrefix + ` args%' THEN t.problem END`

// Advance implements [batch.Tx].
func (tx schedulerTx) Advance(ctx context.Context, plans []periodic.Plan) (ids []string, err error) {
	r, err := planRecords(tx.DB(), plans)
	if err != nil {
		return nil, err
	}
	with, rows, where := ``, r.SQL, `t.id = plan.task_id AND `+tx.asRead()
	if tx.SQL().ForNoKeyUpdate != "" {
		with, rows, where = tx.lockUnchanged(r.SQL), `locked`, `t.ctid = plan.row_ctid`
	}
	err = tx.Select(ctx, &ids, with+` UPDATE periodic_task AS t SET rev = `+nextRev(tx.Tx, "$3")+`, `+planned+` FROM `+rows+` AS plan WHERE `+where+` RETURNING id`,
		r.Param, manualAgain, tx.Now().UnixMicro())
	return ids, err
}

// lockUnchanged is the plans of rows that are as they were read, with their tasks locked, and the tick that these are due for (PostgreSQL). Each finds
// its task by the row's place, not by the primary key: the index has an entry for each version of the row that
// an old snapshot keeps. CASE hides the other conditions from the planner.
func (tx schedulerTx) lockUnchanged(rows string) string {
	return `WITH locked AS MATERIALIZED (SELECT plan.*, t.due AS tick, t.ctid AS row_ctid FROM ` + rows + ` AS plan JOIN periodic_task AS t ON t.ctid = plan.row_id
			WHERE CASE WHEN t.id = plan.task_id THEN ` + tx.asRead() + ` ELSE false END` + tx.SQL().ForNoKeyUpdate + `)`
}

// asRead is true for a plan and its task t whose row is as it was read.
func (tx schedulerTx) asRead() string {
	version := `t.rev`
	if tx.SQL().IsSQLite() {
		version = tx.version("t")
	}
	return `CASE WHEN ` + version + ` = plan.version THEN t.enabled AND t.worker IS NULL ELSE false END`
}

// version is a text that is another one once a row is not as it was read: triggers change rev with each edit and each
// skip, and an advance with each plan. On SQLite a task that is deleted and inserted again begins with the same number.
// alias is that of the table.
func (tx schedulerTx) version(alias string) string {
	version := `CAST(` + alias + `.rev AS text)`
	if tx.SQL().IsSQLite() {
		version += ` || ' ' || ` + alias + `.created`
	}
	return version
}

// nextRev is the rev of a task t that is written, where the placeholder is the clock's microseconds: these, or one
// more than before if the clock stands still. So no number comes again after a crash or a failover that loses commits.
func nextRev(tx *sqldb.Tx, placeholder string) string {
	return tx.SQL().Greatest + `(t.rev + 1, CAST(` + placeholder + ` AS bigint))`
}
