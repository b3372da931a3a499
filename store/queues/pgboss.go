package queues

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
)

// PgBoss is the queue of pg-boss (https://timgit.github.io/pg-boss) in PostgreSQL, at
// schema 37 (pg-boss 12.26) or newer. A task's task is the name of a queue, which must
// exist, and args are the data. The job has the id that nextrun gave it. It takes
// the policy and the retention from its queue, and so the retries and the expiry, unless
// the task has a retry_limit, a retry_delay or a timeout.
//
// In a queue whose policy is standard or key_strict_fifo, the task's id is the job's
// singleton_key. A group_ other than default becomes its group_id.
type PgBoss struct {
	// Schema holds pg-boss's tables; empty: pgboss.
	Schema string `yaml:"schema"`
	// Queue is the queue of all tasks; empty: each task's task.
	Queue string `yaml:"queue"`
	// PerTask applies policies such as short and exclusive to the jobs of each task
	// alone, not to the whole queue: the task's id is the singleton_key in every queue.
	PerTask bool `yaml:"per_task"`
	// Gone is how a job ended that is not in the table any more: success, failed or unknown.
	// pg-boss deletes jobs a week after their end, unless a queue says otherwise.
	// Empty: unknown.
	Gone string `yaml:"gone"`
}

// Validate returns an error that names each setting that is bad.
func (k PgBoss) Validate() error {
	c := &service.Check{Config: "queues.PgBoss"}
	checkIdentifier(c, "Schema", k.Schema)
	checkGone(c, k.Gone)
	return c.Err()
}

// uuid is the form of a job's id. A reference is the queue and that id.
var (
	uuid      = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	pgBossRef = regexp.MustCompile(`(?s)^.*/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

func (k PgBoss) check(j jobqueue.Job) string {
	switch {
	case k.queueOf(j) == "":
		return "task is empty; pg-boss needs the name of a queue there"
	case !uuid.MatchString(j.JID):
		return fmt.Sprintf("the id %q is not a UUID, as ids of pg-boss are", j.JID)
	}
	return badPriority(j)
}

func (k PgBoss) queueOf(j jobqueue.Job) string { return cmp.Or(k.Queue, j.Task) }

func (k PgBoss) preset(sqlite bool) (preset, error) {
	if sqlite {
		return preset{}, errors.New("pg-boss: the database is SQLite; pg-boss has its tables in PostgreSQL")
	}
	schema := cmp.Or(k.Schema, "pgboss") // its own default
	key := `CASE WHEN q.policy IN ('standard', 'key_strict_fifo') THEN v.tracker END`
	if k.PerTask {
		key = `v.tracker`
	}
	name := "t.task"
	if k.Queue != "" {
		name = literal(k.Queue)
	}
	words := strings.NewReplacer("{job}", qualified(schema, "job"), "{queue}", qualified(schema, "queue"),
		"{schema}", literal(schema), "{task}", joinTask, "{key}", key, "{name}", name,
		// A job j of a reference v.ref, a queue and a UUID, by its primary key.
		"{ours}", `j.name = left(v.ref, -37) AND j.id = right(v.ref, 36)::uuid`)
	sql := func(text string) statement { return own(words.Replace(text)) }
	p := preset{
		kind: "pg-boss", heeds: []string{"retry_limit", "retry_delay", "timeout", "priority"}, check: k.check, gone: goneState(k.Gone, "unknown"),
		remedy:  "nextrun needs pg-boss 12.26 or newer, which migrates its tables when it starts, or run: npx pg-boss create",
		columns: []column{columnJID, columnTracker, columnGroup, columnDue, columnPriority, textColumn("queue", k.queueOf)},
		queueOf: k.queueOf, ref: pgBossRef,
		// A job gets from its queue what boss.send would give it. pg-boss deletes jobs after keep_until that no worker has
		// begun, and a tick may be older than the retention.
		insert: sql(`WITH jobs AS MATERIALIZED (SELECT v.* FROM {batch} AS v), added AS (
			INSERT INTO {job} (id, name, data, priority, start_after, keep_until, singleton_key, group_id, policy, retry_limit, retry_delay,
				retry_backoff, retry_delay_max, expire_seconds, deletion_seconds, dead_letter, heartbeat_seconds)
			SELECT v.jid::uuid, q.name, t.args::jsonb, v.priority, v.due AT TIME ZONE 'UTC',
				greatest(v.due AT TIME ZONE 'UTC', now()) + q.retention_seconds * interval '1 second', {key}, nullif(v.group_, 'default'), q.policy,
				coalesce(t.retry_limit, q.retry_limit), coalesce(t.retry_delay, q.retry_delay), q.retry_backoff, q.retry_delay_max,
				coalesce(t.timeout, q.expire_seconds), q.deletion_seconds, q.dead_letter, q.heartbeat_seconds
			FROM jobs AS v {task} JOIN {queue} AS q ON q.name = v.queue
			ON CONFLICT DO NOTHING
			RETURNING id, name)
			SELECT v.jid, a.name || '/' || a.id AS ref, q.policy <> 'standard' AS passing, CASE WHEN a.id IS NOT NULL THEN NULL
				WHEN q.name IS NULL THEN 'pg-boss has no queue ' || to_json(v.queue)::text || '; create it in your program: await boss.createQueue('
					|| to_json(v.queue)::text || ')'
				WHEN q.policy = 'standard' THEN 'pg-boss has a job with the id ' || v.jid || ' in the queue ' || to_json(v.queue)::text || ' already'
				ELSE 'the queue ' || to_json(v.queue)::text || ' of pg-boss has the policy ' || q.policy || ' and holds a job that excludes another'
				END AS refused
			FROM jobs AS v LEFT JOIN {queue} AS q ON q.name = v.queue LEFT JOIN added AS a ON a.id = v.jid::uuid`),
		// pg-boss listens on the first 24 digits of the hash of its schema's name.
		notify: sql(`SELECT pg_notify(concat('pgboss_', left(encode(sha224({schema}::bytea), 'hex'), 24)), v.queue)
			FROM {batch} AS v JOIN {queue} AS q ON q.name = v.queue WHERE q.notify`),
	}
	k.laterStatements(&p, sql)
	return p, nil
}

// laterStatements are those about jobs that the queue has taken.
func (PgBoss) laterStatements(p *preset, sql func(string) statement) {
	p.pending = sql(`SELECT v.ref, CASE j.state WHEN 'active' THEN 'running' WHEN 'retry' THEN 'stuck' ELSE 'waiting' END AS state,
			j.started_on AT TIME ZONE 'UTC' AS started
		FROM {batch} AS v JOIN {job} AS j ON {ours} WHERE j.state IN ('created', 'retry', 'active')`)
	p.ends = sql(`SELECT v.ref, CASE j.state WHEN 'completed' THEN 'success' WHEN 'failed' THEN 'failed' WHEN 'cancelled' THEN 'cancelled' END AS outcome,
			j.completed_on AT TIME ZONE 'UTC' AS finished, CASE WHEN j.started_on IS NOT NULL THEN j.retry_count + 1 END AS attempts,
			CASE WHEN j.state <> 'completed' THEN coalesce(j.output ->> 'message', j.output #>> '{value,message}', j.output ->> 'value', j.output::text) END AS error
		FROM {batch} AS v JOIN {job} AS j ON {ours}`)
	p.cancel = sql(`UPDATE {job} AS u SET state = 'cancelled', completed_on = $2::timestamp AT TIME ZONE 'UTC'
		FROM (SELECT j.name, j.id, v.ref FROM {batch} AS v JOIN {job} AS j ON {ours} WHERE j.state IN ('created', 'retry')
			FOR UPDATE OF j SKIP LOCKED) AS c
		WHERE u.name = c.name AND u.id = c.id RETURNING c.ref`)
	// As boss.retry does.
	p.retry = sql(`UPDATE {job} AS u SET state = 'retry', completed_on = NULL, start_after = now(), retry_limit = greatest(u.retry_limit, u.retry_count + 1)
		FROM {batch} AS v JOIN periodic_task AS t ON t.id = v.task_id
		WHERE u.name = {name} AND u.id = v.jid::uuid AND u.state IN ('failed', 'cancelled') AND $2::timestamp IS NOT NULL
		RETURNING u.name || '/' || u.id AS ref`)
}
