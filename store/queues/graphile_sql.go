package queues

import (
	"strings"

	"github.com/nextrun/nextrun/internal/foreign"
)

// graphileFields are the fields of a job_spec that are written, from a job j.
// Others are NULL.
var graphileFields = map[string]string{
	"identifier":   "j.task",
	"payload":      "j.args::json",
	"queue_name":   "j.queue_name",
	"run_at":       "j.due AT TIME ZONE 'UTC'",
	"max_attempts": "j.max_attempts",
	"job_key":      "j.key",
	"priority":     "j.priority",
}

// graphileOurs holds for the job of an open one v. The id alone does not tell: its table
// may be in another schema than before, or have been emptied and its numbers begun anew.
const graphileOurs = `j.id = v.ref::bigint AND j.key LIKE 'nextrun:%:' || v.jid`

// graphileMaybeOurs holds for those, too, whose key somebody else has taken away. A
// remove_job or add_jobs with the key of a running job does so, and sets its attempts to
// their maximum.
const graphileMaybeOurs = `j.id = v.ref::bigint AND (j.key LIKE 'nextrun:%:' || v.jid OR j.key IS NULL AND j.attempts >= j.max_attempts)`

// graphilePending holds for jobs that Graphile Worker has not given up.
const graphilePending = `(j.locked_at IS NOT NULL OR j.attempts < j.max_attempts)`

// postgres makes the statements for a job_spec with these fields. add_jobs notifies
// the workers itself. private says that the table of jobs is there: cancel passes
// over its locked rows.
func (k graphileWorker) postgres(fields []string, private bool) *foreign.Shape {
	values := make([]string, len(fields))
	for i, field := range fields {
		values[i] = "NULL"
		if value, ok := graphileFields[field]; ok {
			values[i] = value
		}
	}
	row := "ROW(" + strings.Join(values, ", ") + ")::" + foreign.Qualified(k.Schema, "job_spec")
	jobs := foreign.Qualified(k.Schema, "jobs")
	free := jobs + " AS j ON " + graphileOurs + " WHERE j.locked_at IS NULL AND " + graphilePending
	if private {
		free = strings.Replace(free, jobs, foreign.Qualified(k.Schema, graphileJobs), 1) + " FOR UPDATE OF j SKIP LOCKED"
	}
	return &foreign.Shape{
		Columns: k.columns(), IsRef: foreign.IsNumber,
		Absent: "Graphile Worker did not add the job; check whether a trigger that you added to its tables forbids it",
		Insert: foreign.Own(`WITH j AS MATERIALIZED (SELECT v.*, t.args, ` + foreign.Attempts(k.MaxAttempts, false) + ` AS max_attempts FROM {batch} AS v` + foreign.JoinTask + `)
			SELECT j.jid, a.id AS ref
			FROM ` + foreign.Qualified(k.Schema, "add_jobs") + `(ARRAY(SELECT ` + row + ` FROM j)) AS a JOIN j ON j.key = a.key`),
		Pending: foreign.Own(`SELECT v.ref, j.locked_at AT TIME ZONE 'UTC' AS started, CASE WHEN j.locked_at IS NOT NULL THEN 'running'
				WHEN j.attempts > 0 THEN 'stuck' ELSE 'waiting' END AS state
			FROM {batch} AS v JOIN ` + jobs + ` AS j ON ` + graphileMaybeOurs + `
			WHERE ` + graphilePending),
		// When a job failed is not in its row.
		Ends: foreign.Own(`SELECT v.ref, CASE WHEN NOT ` + graphilePending + ` THEN 'failed' END AS outcome, j.attempts, j.last_error AS error
			FROM {batch} AS v JOIN ` + jobs + ` AS j ON ` + graphileMaybeOurs),
		// complete_jobs deletes jobs, but none that a worker has locked, unless four
		// hours ago. The query before it leaves those out, too.
		Cancel: foreign.Own(`SELECT c.id AS ref FROM ` + foreign.Qualified(k.Schema, "complete_jobs") + `(ARRAY(SELECT j.id
			FROM {batch} AS v JOIN ` + free + `)) AS c WHERE $2::timestamp IS NOT NULL`),
		Retry: foreign.Own(`SELECT r.id AS ref FROM ` + foreign.Qualified(k.Schema, "reschedule_jobs") + `(ARRAY(SELECT j.id
			FROM {batch} AS v JOIN ` + jobs + ` AS j ON j.key = 'nextrun:' || v.task_id || to_char(v.due, ':YYYY-MM-DD"T"HH24:MI:SS.US"Z:"') || v.jid
			WHERE NOT ` + graphilePending + `), run_at => now(), attempts => 0) AS r WHERE $2::timestamp IS NOT NULL`),
	}
}
