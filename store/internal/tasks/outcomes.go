package tasks

import (
	"context"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

// outcomeRow is the last tick of a task, the last one that was submitted, and what
// became of its job or event.
type outcomeRow struct {
	tickRow
	RunDue     sqldb.RowTime `db:"run_due"`
	RunDecided sqldb.RowTime `db:"run_decided"`
	Run        endRow
	resultRow
}

func (r outcomeRow) outcome() periodic.Outcome {
	o := periodic.Outcome{Last: r.tick(), Result: r.result()}
	if r.RunDue.Time().IsZero() {
		return o
	}
	run := r.Run.on(periodic.Tick{
		TaskID: string(r.TaskID), Due: r.RunDue.Time(), Decision: periodic.Submitted, JID: string(r.Ref), Decided: r.RunDecided.Time(),
	})
	if o.Run = &run; o.Result == (periodic.Result{}) {
		o.Result = run.Result()
	}
	return o
}

// resultRow is a job or an event.
type resultRow struct {
	Ref      sqldb.RowText // its id
	Of       sqldb.RowText // job or event
	State    sqldb.RowText
	Retries  sqldb.RowInt
	Started  sqldb.RowTime
	Finished sqldb.RowTime
	Message  sqldb.RowText
}

func (r resultRow) result() periodic.Result {
	return periodic.Result{
		Sink: periodic.Sink(r.Of), State: string(r.State), Retries: r.Retries.N,
		Started: r.Started.Time(), Finished: r.Finished.Time(), Message: string(r.Message),
	}
}

// results is SQL for the columns of [resultRow] of the job or event with the id in a
// column, and for the tables that they are in.
func results(id string) (columns, joins string) {
	const event = `CASE WHEN e.id IS NULL THEN NULL WHEN m.id IS NULL THEN 'gone' WHEN m.dead IS NOT NULL THEN 'dead'
			WHEN m.published IS NOT NULL THEN 'published' ELSE 'pending' END`
	joins = ` LEFT JOIN event_store AS e ON e.id = ` + id + ` LEFT JOIN outbox_message AS m ON m.event_id = e.id`
	return id + ` AS ref, CASE WHEN j.jid IS NOT NULL THEN 'job' WHEN e.id IS NOT NULL THEN 'event' END AS "of",
			coalesce(j.state, ` + event + `) AS state, coalesce(j.retries, m.attempts) AS retries,
			j.started, coalesce(j.finished, m.published, m.dead) AS finished, coalesce(j.result, m.problem) AS message`,
		` LEFT JOIN job AS j ON j.jid = ` + id + joins
}

// Outcomes finds the ticks of each task by the primary key of periodic_tick, however
// many there are.
func (tx taskTx) Outcomes(ctx context.Context, f periodic.TaskFilter) (map[string]periodic.Outcome, error) {
	columns, joins := results("r.jid")
	selected, args := tx.selected(f)
	var rows []outcomeRow
	err := tx.Select(ctx, &rows, `WITH listed AS MATERIALIZED (
			SELECT t.id,
				(SELECT max(due) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decided IS NOT NULL) AS last_due,
				(SELECT due FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'submitted'
				 ORDER BY due DESC LIMIT 1) AS submitted_due
			FROM periodic_task AS t`+selected+`)
		SELECT l.id AS task_id, k.due, k.decision, k.reason, k.missed, k.until, k.jid, k.worker, k.decided, k.outcome, k.finished, k.attempts, k.error,
			r.due AS run_due, r.decided AS run_decided,
			r.outcome AS "run.outcome", r.finished AS "run.finished", r.attempts AS "run.attempts", r.error AS "run.error", `+columns+`
		FROM listed AS l
		JOIN periodic_tick AS k ON k.task_id = l.id AND k.due = l.last_due
		LEFT JOIN periodic_tick AS r ON r.task_id = l.id AND r.due = l.submitted_due`+joins, args...)
	outcomes := make(map[string]periodic.Outcome, len(rows))
	for _, r := range rows {
		outcomes[string(r.TaskID)] = r.outcome()
	}
	return outcomes, err
}

func (tx taskTx) Results(ctx context.Context, jids []string) (map[string]periodic.Result, error) {
	columns, joins := results("v.value")
	ids, err := tx.Texts(1, jids)
	if err != nil {
		return nil, err
	}
	var rows []resultRow
	err = tx.Select(ctx, &rows, `SELECT `+columns+` FROM `+ids.SQL+` AS v`+joins, ids.Param)
	found := make(map[string]periodic.Result, len(rows))
	for _, r := range rows {
		if r.Of != "" {
			found[string(r.Ref)] = r.result()
		}
	}
	return found, err
}
