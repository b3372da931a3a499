package tasks

import (
	"context"
	"errors"
	"slices"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/reasons"
)

// plainColumns are what one statement needs of a plan that is plain.
var plainColumns = []sqldb.Field{
	sqldb.Text("task_id"), sqldb.Int("version"), sqldb.Row("row_id"), sqldb.Time("due"), sqldb.Time("nextrun"), sqldb.Text("problem"), sqldb.Text("jid"),
}

// SubmitAtOnce implements [batch.Tx] on PostgreSQL: SQLite has no WITH that writes. With other queues
// configured, nextrun's own is a movedQueue, which also reads periodic_open, and needs the longer way.
func (tx schedulerTx) SubmitAtOnce(ctx context.Context, queue periodic.Queue, plans []periodic.Plan) (missing []string, can bool, err error) {
	if _, own := queue.(JobSink); !own || tx.SQL().IsSQLite() {
		return nil, false, nil
	}
	var worker any
	if len(plans) > 0 {
		worker = plans[0].Ticks[0].Worker
	}
	r, err := tx.DB().Records(1, plainColumns, len(plans), func(i int) []any {
		p := &plans[i]
		return []any{p.Task.ID, p.Task.Version, p.Task.RowID, p.Due, p.NextRun, sqldb.Nullable(p.Problem), p.Ticks[0].JID}
	})
	if err != nil {
		return nil, true, err
	}
	err = tx.Select(sqldb.Keep(ctx, sqldb.ForGood), &missing, tx.submitStatement(r.SQL), r.Param, sqldb.Timestamp(tx.Now()), worker, tx.Now().UnixMicro(), len(plans))
	if errors.Is(err, sqldb.ErrDuplicate) || err == nil && slices.Contains(missing, "") {
		return nil, true, errors.Join(batch.ErrInTheWay, err)
	}
	tx.Changes(sqldb.TopicJobs)
	return missing, true, err
}

// submitStatement advances the tasks that are as they were read, records their ticks, and adds their jobs. It returns the
// tasks that did not advance, and an empty text if a trigger has suppressed a tick or a job. That something is in the way is an error of
// the index: ON CONFLICT would cost each row a fifth of its time. The triggers that it fires are listed in
// docs/internals/architecture.md.
func (tx schedulerTx) submitStatement(rows string) string {
	return tx.lockUnchanged(rows) + `,
		advanced AS (UPDATE periodic_task AS t SET rev = ` + nextRev(tx.Tx, "$4") + `, due = locked.due, nextrun = locked.nextrun,
				problem = CASE WHEN locked.problem IS NOT NULL THEN locked.problem
					WHEN t.problem LIKE '` + reasons.WarningPrefix + ` args%' THEN t.problem END
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
