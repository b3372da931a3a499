package queues

import (
	"strings"

	"github.com/nextrun/nextrun/internal/foreign"
)

// pgBossValue is a column of pg-boss's table job, and its value for a job v of the
// task t in the queue q.
type pgBossValue struct{ column, value string }

// values are the columns that an insert writes, if the table has them.
func (k pgBoss) values() []pgBossValue {
	key := `CASE WHEN q.policy IN ('standard', 'key_strict_fifo') THEN v.tracker END`
	if k.PerTask {
		key = `v.tracker`
	}
	list := []pgBossValue{
		{"id", `v.jid::uuid`},
		{"name", `q.name`},
		{"data", `t.args::jsonb`},
		{"priority", `v.priority`},
		{"start_after", `v.due AT TIME ZONE 'UTC'`},
		// pg-boss deletes jobs then that no worker has begun, and a tick may be older
		// than the retention.
		{"keep_until", `greatest(v.due AT TIME ZONE 'UTC', now()) + q.retention_seconds * interval '1 second'`},
		{"singleton_key", key},
		{"group_id", `nullif(v.group_, 'default')`},
	}
	for _, column := range pgBossCopied {
		value := "q." + column
		if limit := pgBossLimits[column]; limit != "" {
			value = "coalesce(t." + limit + ", " + value + ")"
		}
		list = append(list, pgBossValue{column, value})
	}
	return list
}

// pgBossCopied are the columns that pg-boss itself copies from the queue when a
// program adds a job.
var pgBossCopied = []string{
	"policy", "retry_limit", "retry_delay", "retry_backoff", "retry_delay_max", "expire_seconds", "deletion_seconds", "dead_letter",
	"heartbeat_seconds",
}

// pgBossLimits are those of them that a task can set, with the task's column.
var pgBossLimits = map[string]string{"retry_limit": "retry_limit", "retry_delay": "retry_delay", "expire_seconds": "timeout"}

// pgBossUnfinished are pg-boss's states of jobs that are not final.
const pgBossUnfinished = "('created', 'retry', 'active')"

// postgres makes the statements for a table job with the columns of these values.
func (k pgBoss) postgres(values []pgBossValue, notifies bool) *foreign.Shape {
	var columns, expressions []string
	for _, v := range values {
		columns, expressions = append(columns, v.column), append(expressions, v.value)
	}
	table, queue := foreign.Qualified(k.Schema, "job"), foreign.Qualified(k.Schema, "queue")
	s := &foreign.Shape{
		Columns: k.columns(), QueueOf: k.queueOf, IsRef: pgBossRef.MatchString,
		Insert: foreign.Own(`INSERT INTO ` + table + ` (` + strings.Join(columns, ", ") + `)
			SELECT ` + strings.Join(expressions, ", ") + `
			FROM {batch} AS v` + foreign.JoinTask + `JOIN ` + queue + ` AS q ON q.name = v.queue
			ON CONFLICT DO NOTHING
			RETURNING id AS jid, name || '/' || id AS ref`),
		Absent: "pg-boss has not added the job; check whether a trigger that you added to its table forbids it",
		WhyAbsent: foreign.Own(`SELECT v.jid, CASE
				WHEN q.name IS NULL THEN 'pg-boss has no queue ' || to_json(v.queue)::text || '; create it in your program: await boss.createQueue('
					|| to_json(v.queue)::text || ')'
				WHEN q.policy = 'standard' THEN 'pg-boss has a job with the id ' || v.jid || ' in the queue ' || to_json(v.queue)::text || ' already'
				ELSE 'the queue ' || to_json(v.queue)::text || ' of pg-boss has the policy ' || q.policy || ' and holds a job that excludes another'
				END AS reason, q.policy <> 'standard' AS passing
			FROM {batch} AS v LEFT JOIN ` + queue + ` AS q ON q.name = v.queue`),
		Pending: foreign.Own(`SELECT v.ref, CASE j.state WHEN 'active' THEN 'running' WHEN 'retry' THEN 'stuck' ELSE 'waiting' END AS state,
				j.started_on AT TIME ZONE 'UTC' AS started
			FROM {batch} AS v JOIN ` + table + ` AS j ON ` + pgBossJoin + `
			WHERE j.state IN ` + pgBossUnfinished),
		Ends: foreign.Own(`SELECT v.ref, CASE j.state WHEN 'completed' THEN 'success' WHEN 'failed' THEN 'failed' WHEN 'cancelled' THEN 'cancelled' END AS outcome,
				j.completed_on AT TIME ZONE 'UTC' AS finished, CASE WHEN j.started_on IS NOT NULL THEN j.retry_count + 1 END AS attempts,
				CASE WHEN j.state <> 'completed' THEN coalesce(j.output ->> 'message', j.output #>> '{value,message}', j.output ->> 'value', j.output::text) END AS error
			FROM {batch} AS v JOIN ` + table + ` AS j ON ` + pgBossJoin),
		Cancel: foreign.Own(`UPDATE ` + table + ` AS u SET state = 'cancelled', completed_on = $2::timestamp AT TIME ZONE 'UTC'
			FROM (SELECT j.name, j.id, v.ref FROM {batch} AS v JOIN ` + table + ` AS j ON ` + pgBossJoin + `
				WHERE j.state IN ('created', 'retry') FOR UPDATE OF j SKIP LOCKED) AS c
			WHERE u.name = c.name AND u.id = c.id RETURNING c.ref`),
		Retry: k.retry(table),
	}
	if notifies {
		s.Notify = foreign.Own(`SELECT pg_notify(concat('pgboss_', left(encode(sha224(` + foreign.Literal(k.Schema) + `::bytea), 'hex'), 24)), v.queue)
			FROM {batch} AS v JOIN ` + queue + ` AS q ON q.name = v.queue WHERE q.notify`)
	}
	return s
}

// retry puts a job back, as boss.retry does.
func (k pgBoss) retry(table string) foreign.Statement {
	name := "t.task"
	if k.Queue != "" {
		name = foreign.Literal(k.Queue)
	}
	return foreign.Own(`UPDATE ` + table + ` AS u SET state = 'retry', completed_on = NULL, start_after = now(),
			retry_limit = greatest(u.retry_limit, u.retry_count + 1)
		FROM {batch} AS v JOIN periodic_task AS t ON t.id = v.task_id
		WHERE u.name = ` + name + ` AND u.id = v.jid::uuid AND u.state IN ('failed', 'cancelled') AND $2::timestamp IS NOT NULL
		RETURNING u.name || '/' || u.id AS ref`)
}

// pgBossJoin finds the job j of a reference v.ref, a queue and a UUID, by its primary
// key.
const pgBossJoin = `j.name = left(v.ref, -37) AND j.id = right(v.ref, 36)::uuid`
