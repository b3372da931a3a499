package tasks

import (
	"context"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/reasons"
)

// plainColumns are what one statement needs of a plan that is plain.
var plainColumns = []sqldb.Field{
	sqldb.Text("task_id"), sqldb.Text("version"), sqldb.Text("row_id"), sqldb.Time("due"), sqldb.Time("nextrun"), sqldb.Text("problem"),
	sqldb.Time("tick"), sqldb.Text("jid"), sqldb.Bool("single"),
}

// SubmitAtOnce implements [batch.Tx] on PostgreSQL: SQLite has no WITH that writes. With other queues
// configured, nextrun's own is a movedQueue, which also reads periodic_open, and needs the longer way.
func (tx schedulerTx) SubmitAtOnce(ctx context.Context, queue periodic.Queue, plans []periodic.Plan) (missing []batch.Unsubmitted, can bool, err error) {
	if _, own := queue.(JobSink); !own || tx.SQL().IsSQLite() {
		return nil, false, nil
	}
	var worker any
	if len(plans) > 0 {
		worker = plans[0].Ticks[0].Worker
	} else if err := tx.Generic(ctx); err != nil {
		return nil, true, err
	}
	r, err := tx.DB().Records(1, plainColumns, len(plans), func(i int) []any {
		p := &plans[i]
		return []any{
			p.Task.ID, p.Task.Version, p.Task.RowID, p.Due, p.NextRun, sqldb.Nullable(p.Problem), p.Ticks[0].Due, p.Ticks[0].JID, !p.Task.Overlapping(),
		}
	})
	if err != nil {
		return nil, true, err
	}
	err = tx.Select(sqldb.Keep(ctx, sqldb.ForGood), &missing, tx.submitStatement(r.SQL), r.Param, sqldb.Timestamp(tx.Now()), worker, tx.Now().UnixMicro(), len(plans))
	tx.Changes(sqldb.TopicJobs)
	return missing, true, err
}

// submitStatement advances the tasks that are as they were read, records their ticks, and adds the
// jobs of these. It returns the plans without a job: none at all, nearly always. The triggers that it
// fires are listed in docs/internals/architecture.md. IS TRUE keeps "id IN (...)" a hashed lookup: PostgreSQL
// would make a join of it, and expects one row of ticks, so it would compare each of them with each task.
func (tx schedulerTx) submitStatement(rows string) string {
	return tx.lockUnchanged(rows) + `,
		advanced AS (UPDATE periodic_task AS t SET rev = ` + nextRev(tx.Tx, "$4") + `, due = locked.due, nextrun = locked.nextrun,
				problem = CASE WHEN locked.problem IS NOT NULL THEN locked.problem
					WHEN t.problem LIKE '` + reasons.WarningPrefix + ` args%' THEN t.problem END
			FROM locked WHERE t.ctid = locked.row_ctid
			RETURNING t.id, locked.tick, locked.jid, locked.single, ` + takenColumns + `),
		ticks AS (INSERT INTO periodic_tick (task_id, due, decision, missed, jid, worker, decided)
			SELECT id, tick, 'submitted', 0, jid, $3::text, $2::timestamp FROM advanced
			ON CONFLICT DO NOTHING RETURNING task_id),
		jobs AS (INSERT INTO job (jid, submitted, state, retries, progress, tracker, due, single, ` + jobColumns + `)
			SELECT jid, $2::timestamp, 'waiting', 0, 0, id, tick, single, ` + jobColumns + ` FROM advanced
			WHERE (id IN (SELECT task_id FROM ticks)) IS TRUE
			ON CONFLICT DO NOTHING RETURNING tracker)
		SELECT task_id, task_id IN (SELECT id FROM advanced) AS advanced, task_id IN (SELECT task_id FROM ticks) AS recorded
		FROM ` + rows + ` AS plan WHERE (SELECT count(*) FROM jobs) < $5 AND task_id NOT IN (SELECT tracker FROM jobs)`
}
