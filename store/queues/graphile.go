package queues

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
)

// GraphileWorker is a queue of Graphile Worker (Node.js), release 0.16 or newer, in
// the PostgreSQL database of nextrun.
//
// A job's task is the identifier of the Graphile task, its args are the payload, and
// its due is run_at. Graphile serves low numbers first, so a priority becomes its
// negative. The key of a job, nextrun:TASK:DUE:JID, says where it comes from. Do not
// add jobs with such keys yourself.
type GraphileWorker struct {
	// Schema holds Graphile Worker's tables; empty: graphile_worker.
	Schema string `yaml:"schema"`
	// Queue is the named queue of all jobs, up to 128 characters. Graphile Worker
	// runs the jobs of a named queue one at a time, also those of different tasks.
	// Empty: no named queue, so that jobs run in parallel.
	Queue string `yaml:"queue"`
	// MaxAttempts is how often Graphile Worker tries a job of a task without
	// retry_limit; 0: 25, its own default.
	MaxAttempts int `yaml:"max_attempts"`
	// Gone is how a job ended that is not in the tables any more: success, failed or
	// unknown. Graphile Worker deletes jobs when they have succeeded, or are removed, and
	// keeps those that failed. Empty: success.
	Gone string `yaml:"gone"`
}

// graphileNameLength is the greatest length of identifiers and named queues.
const graphileNameLength = 128

// Validate returns an error that names each setting that is bad.
func (k GraphileWorker) Validate() error {
	c := &service.Check{Config: "queues.GraphileWorker"}
	checkIdentifier(c, "Schema", k.Schema)
	checkName(c, "Queue", k.Queue, graphileNameLength)
	checkAttempts(c, k.MaxAttempts)
	checkGone(c, k.Gone)
	return c.Err()
}

func (GraphileWorker) check(j jobqueue.Job) string {
	switch {
	case j.Task == "":
		return "task is empty; Graphile Worker needs the identifier of a task there"
	case utf8.RuneCountInString(j.Task) > graphileNameLength:
		return fmt.Sprintf("task is longer than the %d characters that Graphile Worker's identifiers can have", graphileNameLength)
	}
	return badPriority(j)
}

// graphileKey is the key of a job, which may have 512 characters; ids of tasks have 254
// at most. Two jobs never have the same key: add_jobs would change the one that is
// there and, if it is running, take its retries away.
func graphileKey(j jobqueue.Job) string {
	return "nextrun:" + j.Tracker + j.Due.UTC().Format(":2006-01-02T15:04:05.000000Z:") + j.JID
}

// preset uses the functions of Graphile Worker, which notify the workers themselves.
// _private_jobs is the table of jobs, whose locked rows cancel passes over.
func (k GraphileWorker) preset(sqlite bool) (preset, error) {
	if sqlite {
		return preset{}, errors.New("graphile-worker: the database is SQLite; Graphile Worker has its tables in PostgreSQL")
	}
	schema := cmp.Or(k.Schema, "graphile_worker") // its own default
	words := strings.NewReplacer(
		"{schema}", qualified("", schema), "{task}", joinTask, "{attempts}", attempts(cmp.Or(k.MaxAttempts, 25), "least"),
		// The id alone does not tell that a job is ours: its table may be in another schema than before, or have been
		// emptied, and its numbers start again.
		"{ours}", `j.id = v.ref::bigint AND j.key LIKE 'nextrun:%:' || v.jid`,
		// Those, too, whose key somebody else has taken away. A remove_job or add_jobs with the key of a running job
		// does so, and sets its attempts to their maximum.
		"{maybe ours}", `j.id = v.ref::bigint AND (j.key LIKE 'nextrun:%:' || v.jid OR j.key IS NULL AND j.attempts >= j.max_attempts)`,
		"{open}", `(j.locked_at IS NOT NULL OR j.attempts < j.max_attempts)`,
	)
	sql := func(text string) statement { return own(words.Replace(text)) }
	return preset{
		kind: "graphile-worker", heeds: []string{"retry_limit", "priority"}, check: k.check, gone: goneState(k.Gone, "success"),
		remedy: "nextrun needs Graphile Worker 0.16 or newer, which migrates its tables when it starts: npx graphile-worker --schema-only --connection ...",
		columns: []column{
			columnJID, columnTracker, columnTask, columnDue, textColumn("key", graphileKey),
			textColumn("queue_name", func(jobqueue.Job) string { return k.Queue }),
			intColumn("priority", func(j jobqueue.Job) int { return -j.Priority }),
		},
		ref: number, absent: "Graphile Worker did not add the job; check whether a trigger that you added to its tables forbids it",
		// A job_spec gets fields from release to release; those without a value are NULL.
		insert: sql(`WITH j AS MATERIALIZED (SELECT v.*, t.args, {attempts} AS max_attempts FROM {batch} AS v {task})
			SELECT j.jid, a.id AS ref
			FROM {schema}.add_jobs(ARRAY(SELECT json_populate_record(NULL::{schema}.job_spec, json_build_object(
				'identifier', j.task, 'payload', j.args::json, 'queue_name', j.queue_name, 'run_at', j.due AT TIME ZONE 'UTC',
				'max_attempts', j.max_attempts, 'job_key', j.key, 'priority', j.priority)) FROM j)) AS a JOIN j ON j.key = a.key`),
		probe: sql(`INSERT INTO {schema}._private_jobs (task_id) SELECT 1 FROM {batch} AS v WHERE false`),
		pending: sql(`SELECT v.ref, j.locked_at AT TIME ZONE 'UTC' AS started, CASE WHEN j.locked_at IS NOT NULL THEN 'running'
				WHEN j.attempts > 0 THEN 'stuck' ELSE 'waiting' END AS state
			FROM {batch} AS v JOIN {schema}.jobs AS j ON {maybe ours} WHERE {open}`),
		// When a job failed is not in its row.
		ends: sql(`SELECT v.ref, CASE WHEN NOT {open} THEN 'failed' END AS outcome, j.attempts, j.last_error AS error
			FROM {batch} AS v JOIN {schema}.jobs AS j ON {maybe ours}`),
		// complete_jobs deletes jobs, but none that a worker has locked, unless four
		// hours ago. The query before it leaves those out, too.
		cancel: sql(`SELECT c.id AS ref FROM {schema}.complete_jobs(ARRAY(SELECT j.id FROM {batch} AS v JOIN {schema}._private_jobs AS j ON {ours}
			WHERE j.locked_at IS NULL AND {open} FOR UPDATE OF j SKIP LOCKED)) AS c WHERE $2::timestamp IS NOT NULL`),
		retry: sql(`SELECT r.id AS ref FROM {schema}.reschedule_jobs(ARRAY(SELECT j.id
			FROM {batch} AS v JOIN {schema}.jobs AS j ON j.key = 'nextrun:' || v.task_id || to_char(v.due, ':YYYY-MM-DD"T"HH24:MI:SS.US"Z:"') || v.jid
			WHERE NOT {open}), run_at => now(), attempts => 0) AS r WHERE $2::timestamp IS NOT NULL`),
	}, nil
}
