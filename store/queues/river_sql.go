package queues

import (
	"context"

	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

const riverAbsent = "River has an unfinished job of this task that nextrun does not know of"

// shape is what is alike on both databases.
func (k river) shape() foreign.Shape {
	return foreign.Shape{
		Columns: k.columns(), Absent: riverAbsent, AbsentPassing: true, IsRef: foreign.IsNumber,
		QueueOf: func(j jobqueue.Job) string { return foreign.QueueOf(k.Queue, j) },
	}
}

// riverOutcome is how a job j of River ended.
const riverOutcome = `CASE j.state WHEN 'completed' THEN 'success' WHEN 'discarded' THEN 'failed' WHEN 'cancelled' THEN 'cancelled' END AS outcome`

// riverFinal are River's final states.
const riverFinal = "('cancelled', 'completed', 'discarded')"

// postgres makes the statements for PostgreSQL. The id alone does not tell that a job
// is ours: its table may have been emptied and its numbers begun anew.
func (k river) postgres(schema string) *foreign.Shape {
	table := foreign.Qualified(schema, "river_job")
	s := k.shape()
	s.Insert = foreign.Own(`INSERT INTO ` + table + ` (args, kind, max_attempts, metadata, priority, queue, scheduled_at, state, tags,
			unique_key, unique_states)
		SELECT t.args::jsonb, v.task, ` + foreign.Attempts(k.MaxAttempts, false) + `, v.meta::jsonb, v.priority, v.queue, v.due AT TIME ZONE 'UTC',
			'available', '{}', decode(v.unique_key, 'hex'), CASE WHEN v.unique_key IS NOT NULL THEN ` + riverUnfinished + `::bit(8) END
		FROM {batch} AS v` + foreign.JoinTask + `
		ON CONFLICT DO NOTHING
		RETURNING metadata #>> '{nextrun,jid}' AS jid, id AS ref`)
	s.Pending = foreign.Own(`SELECT v.ref, CASE j.state WHEN 'running' THEN 'running' WHEN 'retryable' THEN 'stuck' ELSE 'waiting' END AS state,
			j.attempted_at AT TIME ZONE 'UTC' AS started
		FROM {batch} AS v JOIN ` + table + ` AS j ON j.id = v.ref::bigint AND j.metadata #>> '{nextrun,jid}' = v.jid
		WHERE j.state NOT IN ` + riverFinal)
	s.Ends = foreign.Own(`SELECT v.ref, ` + riverOutcome + `, j.finalized_at AT TIME ZONE 'UTC' AS finished, j.attempt AS attempts,
			CASE WHEN j.state <> 'completed' THEN j.errors[array_upper(j.errors, 1)] ->> 'error' END AS error
		FROM {batch} AS v JOIN ` + table + ` AS j ON j.id = v.ref::bigint AND j.metadata #>> '{nextrun,jid}' = v.jid`)
	s.Cancel = foreign.Own(`UPDATE ` + table + ` AS j SET state = 'cancelled', finalized_at = $2::timestamp AT TIME ZONE 'UTC',
			metadata = jsonb_set(j.metadata, '{cancel_attempted_at}', to_jsonb($2::timestamp AT TIME ZONE 'UTC'))
		WHERE j.id IN (SELECT w.id FROM {batch} AS v JOIN ` + table + ` AS w ON w.id = v.ref::bigint AND w.metadata #>> '{nextrun,jid}' = v.jid
			WHERE w.state IN ('available', 'pending', 'retryable', 'scheduled') FOR UPDATE OF w SKIP LOCKED)
		RETURNING j.id AS ref`)
	s.Retry = foreign.Own(`UPDATE ` + table + ` AS j SET state = 'available', scheduled_at = now(), finalized_at = NULL,
			max_attempts = greatest(j.max_attempts, j.attempt + 1)
		WHERE j.id IN (SELECT w.id FROM {batch} AS v JOIN ` + table + ` AS w ON w.metadata #>> '{nextrun,jid}' = v.jid
			WHERE w.state IN ('cancelled', 'discarded') AND w.finalized_at BETWEEN timezone('UTC', $2::timestamp - interval '1 second')
				AND timezone('UTC', $2::timestamp + interval '1 second') FOR UPDATE OF w)
		RETURNING j.id AS ref`)
	s.Notify = foreign.Own(`SELECT pg_notify(` + foreign.Literal(schema+".river_insert") + `, json_build_object('queue', v.queue)::text)
		FROM {batch} AS v`)
	return &s
}

// sqlite makes the statements for SQLite. Times of River are texts with
// milliseconds. Before level 8 SQLite gives the id of a deleted row to a new one, so
// a job is looked up by our id, too. CROSS JOIN keeps SQLite from reading all jobs of
// a state. A statement must hold no $, so that paths into JSON are written with ->.
func (k river) sqlite(ctx context.Context, tx *sqldb.Tx) (*foreign.Shape, error) {
	notification := foreign.Relation{Name: "river_notification"}
	if err := notification.FindSQLite(ctx, tx, nil); err != nil {
		return nil, err
	}
	s := k.shape()
	json := "json"
	if notification.Exists {
		json = "jsonb"
		s.Notify = foreign.Own(`INSERT INTO river_notification (payload, topic)
			SELECT json_object('queue', v.queue), 'river_insert' FROM {batch} AS v`)
	}
	const ours = `j.metadata->'nextrun'->>'jid' = v.jid`
	s.Insert = foreign.Own(`INSERT INTO river_job (args, kind, max_attempts, metadata, priority, queue, scheduled_at, created_at, state, tags,
			unique_key, unique_states)
		SELECT ` + json + `(t.args), v.task, ` + foreign.Attempts(k.MaxAttempts, true) + `, ` + json + `(v.meta), v.priority, v.queue,
			strftime('%Y-%m-%d %H:%M:%f', v.due), strftime('%Y-%m-%d %H:%M:%f', 'now'),
			'available', ` + json + `('[]'), unhex(v.unique_key), CASE WHEN v.unique_key IS NOT NULL THEN ` + riverUnfinished + ` END
		FROM {batch} AS v` + foreign.JoinTask + `WHERE true
		ON CONFLICT DO NOTHING
		RETURNING metadata->'nextrun'->>'jid' AS jid, id AS ref`)
	s.Pending = foreign.Own(`SELECT v.ref, CASE j.state WHEN 'running' THEN 'running' WHEN 'retryable' THEN 'stuck' ELSE 'waiting' END AS state,
			strftime('%Y-%m-%d %H:%M:%f', j.attempted_at) AS started
		FROM {batch} AS v CROSS JOIN river_job AS j ON j.id = CAST(v.ref AS INTEGER) AND ` + ours + `
		WHERE j.state NOT IN ` + riverFinal)
	s.Ends = foreign.Own(`SELECT v.ref, ` + riverOutcome + `, strftime('%Y-%m-%d %H:%M:%f', j.finalized_at) AS finished, j.attempt AS attempts,
			CASE WHEN j.state <> 'completed' THEN j.errors -> (json_array_length(j.errors) - 1) ->> 'error' END AS error
		FROM {batch} AS v CROSS JOIN river_job AS j ON j.id = CAST(v.ref AS INTEGER) AND ` + ours)
	s.Cancel = foreign.Own(`UPDATE river_job SET state = 'cancelled', finalized_at = strftime('%Y-%m-%d %H:%M:%f', $2)
		WHERE id IN (SELECT j.id FROM {batch} AS v CROSS JOIN river_job AS j ON j.id = CAST(v.ref AS INTEGER) AND ` + ours + `
			WHERE j.state IN ('available', 'pending', 'retryable', 'scheduled'))
		RETURNING id AS ref`)
	s.Retry = foreign.Own(`UPDATE river_job SET state = 'available', scheduled_at = strftime('%Y-%m-%d %H:%M:%f', 'now'), finalized_at = NULL,
			max_attempts = max(max_attempts, attempt + 1)
		WHERE id IN (SELECT j.id FROM {batch} AS v CROSS JOIN river_job AS j ON ` + ours + `
			WHERE j.state IN ('cancelled', 'discarded') AND abs(julianday(j.finalized_at) - julianday($2)) < 2 / 86400.0)
		RETURNING id AS ref`)
	return &s, nil
}
