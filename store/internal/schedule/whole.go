package schedule

import (
	"context"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// wholeColumns are what one statement needs of a plan that is plain.
var wholeColumns = []sqldb.Field{
	sqldb.Text("task_id"), sqldb.Time("due"), sqldb.Time("nextrun"), sqldb.Text("problem"),
	sqldb.Time("tick"), sqldb.Text("jid"), sqldb.Bool("single"),
}

// SubmitPlain implements [backend.OneStatement] on PostgreSQL. An INSERT of SQLite has
// no result that another one could use.
func (tx schedulerTx) SubmitPlain(ctx context.Context, queue backend.Queue, mark string, plans []task.Plan) (can bool, err error) {
	if _, own := queue.(JobSink); !own || tx.SQL().IsSQLite() {
		return false, nil
	}
	if err := tx.NeedJobs(ctx); err != nil {
		return true, err
	}
	var marked, worker any
	if len(plans) > 0 {
		marked, worker = sqldb.Timestamp(plans[0].Task.Marked), plans[0].Ticks[0].Worker
	}
	r, err := tx.DB().Records(1, wholeColumns, len(plans), func(i int) []any {
		p := &plans[i]
		return []any{
			p.Task.ID, p.Due, p.NextRun, sqldb.Nullable(p.Problem), p.Ticks[0].Due, p.Ticks[0].JID, !p.Task.Overlapping(),
		}
	})
	if err != nil {
		return true, err
	}
	args := []any{r.Param, sqldb.Timestamp(tx.Now()), worker}
	if mark != "" {
		args = append(args, mark, marked)
	}
	var done struct{ Kept, Ticks, Jobs int }
	if err := tx.First(sqldb.Keep(ctx), &done, wholeStatement(r.SQL, mark != ""), args...); err != nil {
		return true, err
	}
	tx.Changes(sqldb.TopicJobs)
	if n := len(plans); done.Kept < n || done.Ticks < n || done.Jobs < n {
		return true, backend.ErrStepwise
	}
	return true, nil
}

// Ready implements [backend.EarlyTx]: it has the database plan the statement.
func (tx schedulerTx) Ready(ctx context.Context, queue backend.Queue) error {
	if err := tx.Generic(ctx); err != nil {
		return err
	}
	_, err := tx.SubmitPlain(ctx, queue, "-", nil)
	return err
}

// wholeStatement advances tasks, records their ticks and adds their jobs, and counts all
// three. Each row finds its task by the primary key, whatever the statistics say and
// whether or not the planner knows the parameters: CASE keeps it from the index of marks,
// with which it would compare each row with each. As in Advance, a task that somebody
// else has locked is left out.
func wholeStatement(rows string, marked bool) string {
	held := `SELECT * FROM ` + rows + ` AS v`
	if marked {
		held = `SELECT plan.* FROM ` + rows + ` AS plan JOIN periodic_task AS t ON t.id = plan.task_id
			WHERE CASE WHEN t.worker = $4 THEN t.marked = $5::timestamp ELSE false END FOR UPDATE OF t SKIP LOCKED`
	}
	return `WITH held AS (` + held + `),
		advanced AS (UPDATE periodic_task AS t SET worker = NULL, marked = NULL, due = held.due, nextrun = held.nextrun,
				problem = CASE WHEN held.problem IS NOT NULL THEN held.problem
					WHEN t.problem LIKE '` + task.WarningPrefix + ` args%' THEN t.problem END
			FROM held WHERE t.id = held.task_id
			RETURNING t.id, held.tick, held.jid, held.single, t.task, t.group_, t.args, t.subject, t.submitter, t.priority,
				t.retry_limit, t.retry_delay, t.timeout, t.concurrency),
		ticks AS (INSERT INTO periodic_tick (task_id, due, decision, missed, jid, worker, decided)
			SELECT id, tick, 'submitted', 0, jid, $3::text, $2::timestamp FROM advanced
			ON CONFLICT DO NOTHING RETURNING 1),
		jobs AS (INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress,
				tracker, due, single, retry_limit, retry_delay, timeout, concurrency)
			SELECT jid, task, group_, args, subject, $2::timestamp, submitter, priority, 'waiting', 0, 0,
				id, tick, single, retry_limit, retry_delay, timeout, concurrency FROM advanced
			ON CONFLICT DO NOTHING RETURNING 1)
		SELECT (SELECT count(*) FROM advanced) AS kept, (SELECT count(*) FROM ticks) AS ticks, (SELECT count(*) FROM jobs) AS jobs`
}
