package tasks

import (
	"context"
	"errors"
	"slices"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// plainColumns are what one statement needs of a plan that is plain.
var plainColumns = []sqldb.Field{
	sqldb.Text("task_id"), sqldb.Int("version"), sqldb.Row("row_id"), sqldb.Time("due"), sqldb.Time("nextrun"), sqldb.Text("problem"), sqldb.Text("jid"),
}

// WarmUp implements [batch.Tx]: the statement, which is prepared in the connection, writes nothing without plans.
func (tx schedulerTx) WarmUp(ctx context.Context, queue periodic.Queue) error {
	_, _, err := tx.SubmitPlain(ctx, queue, nil)
	return err
}

// SubmitPlain implements [batch.Tx] on PostgreSQL: SQLite has no WITH that writes. With other queues
// configured, nextrun's own is a movedQueue, which also reads periodic_open, and needs the longer way.
func (tx schedulerTx) SubmitPlain(ctx context.Context, queue periodic.Queue, plans []periodic.Plan) (missing []string, can bool, err error) {
	if _, own := queue.(JobSink); !own || tx.SQL().IsSQLite() {
		return nil, false, nil
	}
	var worker any
	if len(plans) > 0 {
		worker = plans[0].Ticks[0].Worker
	}
	r := tx.DB().Records(1, plainColumns, len(plans), func(i int) []any {
		p := &plans[i]
		return []any{p.Task.ID, p.Task.Version, p.Task.RowID, p.Due, p.NextRun, sqldb.Nullable(p.Problem), p.Ticks[0].JID}
	})
	err = tx.Select(sqldb.Keep(ctx, sqldb.ForGood), &missing, tx.submitStatement(r.SQL), r.Param, sqldb.Timestamp(tx.Now()), worker, tx.Now().UnixMicro(), len(plans))
	if errors.Is(err, sqldb.ErrDuplicate) || err == nil && slices.Contains(missing, "") {
		return nil, true, errors.Join(batch.ErrInTheWay, err)
	}
	tx.Changes(sqldb.TopicJobs)
	return missing, true, err
}

// submitStatement advances the tasks that are as they were read, records their ticks, and adds their jobs. It returns the
// tasks that did not advance, and an empty text if a trigger has suppressed a tick or a job. That something is in the way is an error of
// the index: ON CONFLICT would cost each row a fifth of its time. Of the triggers only nextrun_job_added fires.
func (tx schedulerTx) submitStatement(rows string) string {
	return tx.lockUnchanged(rows) + `,
		advanced AS (UPDATE periodic_task AS t SET rev = ` + nextRev(tx.Tx, "$4") + `, due = locked.due, nextrun = locked.nextrun,
				problem = CASE WHEN locked.problem IS NOT NULL THEN locked.problem
					WHEN t.problem LIKE '` + periodic.WarningPrefix + `args%' THEN t.problem END
			FROM locked WHERE t.ctid = locked.row_ctid
			RETURNING t.id, locked.tick, locked.jid, t.overlap <> 'allow' AS single, ` + takenColumns + `),
		ticks AS (INSERT INTO periodic_tick (task_id, due, decision, missed, jid, worker, decided)
			SELECT id, tick, 'submitted', 0, jid, $3::text, $2::timestamp FROM advanced RETURNING 1),
		jobs AS (INSERT INTO job (jid, submitted, state, retries, progress, tracker, due, single, ` + jobColumns + `)
			SELECT jid, $2::timestamp, 'waiting', 0, 0, id, tick, single, ` + jobColumns + ` FROM advanced RETURNING 1),
		written AS MATERIALIZED (SELECT (SELECT count(*) FROM ticks) + (SELECT count(*) FROM jobs) AS rows)
		SELECT task_id FROM ` + rows + ` AS plan WHERE (SELECT rows FROM written) < 2 * $5 AND task_id NOT IN (SELECT id FROM advanced)
		UNION ALL SELECT '' FROM written WHERE rows < 2 * $5 AND rows < 2 * (SELECT count(*) FROM advanced)`
}

// manualAgain is the problem of a task whose tick set by a user exists already.
const manualAgain = periodic.WarningPrefix + "nextrun was set to a time that has a tick already; no second job was submitted"

// planRecords are plans as records for the first placeholder.
func planRecords(db *sqldb.DB, plans []periodic.Plan) sqldb.Records {
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
	problem = CASE WHEN plan.hand IS NOT NULL AND (
			SELECT k.decided IS NOT NULL FROM periodic_tick AS k WHERE k.task_id = plan.task_id AND k.due = plan.hand) THEN $2
		WHEN plan.problem IS NOT NULL THEN plan.problem
		WHEN t.problem LIKE '` + periodic.WarningPrefix + `args%' THEN t.problem END`

// Advance implements [batch.Tx].
func (tx schedulerTx) Advance(ctx context.Context, plans []periodic.Plan) (ids []string, err error) {
	r := planRecords(tx.DB(), plans)
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
