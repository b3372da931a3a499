package batch

import (
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/periodic"
)

// Waits is true for a task t that waits for the end of a job, in whatever queue.
const Waits = `(` + WaitsHere + ` OR t.overlap IN ('queue', 'replace') AND EXISTS (SELECT 1 FROM periodic_open AS o WHERE o.task_id = t.id AND o.ended IS NULL))`

// WaitsHere is true for a task t that waits for the end of a job of nextrun's own queue: overlap queue lets its tick wait, replace
// does once that job has been asked to end. OFFSET keeps PostgreSQL from making a join of it that begins with all jobs.
const WaitsHere = `CASE WHEN t.overlap IN ('queue', 'replace') AND t.nextrun > '1970-01-01 00:00:00.000000' THEN
		EXISTS (SELECT 1 FROM job AS j WHERE j.tracker = t.id AND j.state IN ` + exchange.PendingStates + ` AND (t.overlap = 'queue' OR j.cancel IS NOT NULL) LIMIT 1 OFFSET 0)
	ELSE false END`

// TicksSince is SQL for the ticks k of all tasks whose rows reach beyond a time, several ticks that were missed together being one
// row: what stands before SELECT, behind FROM, and behind WHERE. PostgreSQL finds them by when they were decided, which is hardly
// before they are due; SQLite, which has no index for that, by the primary key, of each task that has ticks.
func TicksSince(at string, sqlite bool) (with, from, where string) {
	where = `coalesce(k.until, k.due) >= ` + at
	if !sqlite {
		return "", `periodic_tick AS k`, where + ` AND k.decided >= CAST(` + at + ` AS timestamp) - interval '1 hour'`
	}
	return `WITH RECURSIVE t (id) AS (SELECT min(task_id) FROM periodic_tick
			UNION ALL SELECT (SELECT min(k.task_id) FROM periodic_tick AS k WHERE k.task_id > t.id) FROM t WHERE t.id IS NOT NULL) `,
		`t JOIN periodic_tick AS k ON k.task_id = t.id
			AND k.due >= coalesce((SELECT max(b.due) FROM periodic_tick AS b WHERE b.task_id = t.id AND b.due < ` + at + `), ` + at + `)`, where
}

// InState is a condition on a task t for its state: what lists and counts tasks asks by it. now is SQL for the time, and late for
// the time by which a scheduler should have taken what was due. What needs attention is what the status has a cause for that
// commands and pages show. A condition that has late has now, too.
func InState(state periodic.TaskState, now, late string) string {
	const blocked = `(t.problem IS NOT NULL AND t.problem NOT LIKE '` + periodic.WarningPrefix + `%')`
	paused := `(t.paused IS NOT NULL AND (t.paused_until IS NULL OR t.paused_until > ` + now + `))`
	overdue := `(t.nextrun < ` + now + ` AND t.nextrun <= ` + late + ` AND t.since <= ` + late + ` AND NOT ` + Waits + `)`
	switch state {
	case periodic.TaskEnabled:
		return `t.enabled AND NOT ` + blocked + ` AND NOT ` + paused
	case periodic.TaskDisabled:
		return `NOT t.enabled`
	case periodic.TaskPaused:
		return `t.enabled AND NOT ` + blocked + ` AND ` + paused
	case periodic.TaskBlocked:
		return `t.enabled AND ` + blocked
	case periodic.TaskProblem:
		return `t.problem IS NOT NULL`
	case periodic.TaskFailed:
		return `t.enabled AND (` + afterFailures + ` OR NOT ` + paused + ` AND ` + failed + `)`
	case periodic.TaskAttention:
		return `t.enabled AND (t.problem IS NOT NULL OR ` + afterFailures + ` OR ` + overdue + ` OR NOT ` + paused + ` AND (t.due <= ` + now + ` OR ` + unsettled + `) AND (` + failed + ` OR ` + stale + `))`
	case periodic.TaskRetrying:
		return `t.id IN (SELECT tracker FROM job WHERE state = 'stuck')`
	case periodic.TaskOverdue:
		return `t.enabled AND ` + overdue
	case "":
		return `1 = 1`
	}
	return `1 = 0`
}

const afterFailures = `(t.paused IS NOT NULL AND t.paused_by = '` + periodic.PausedAfterFailures + `')`

// failed is a condition: of the ten newest ticks of a task, the newest one that has ended did not end well.
const failed = `coalesce((SELECT x.outcome FROM (SELECT k.due, CASE WHEN k.decision <> 'submitted' THEN k.decision ELSE k.state END AS outcome
		FROM periodic_run AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 10) AS x
	WHERE x.outcome IN ('success', 'failed', 'missed', 'late') ORDER BY x.due DESC LIMIT 1), 'success') <> 'success'`

// unsettled is a condition that costs little: the newest run of a task has not succeeded, or nobody knows. One that has needs no
// closer look until the task is due.
const unsettled = `coalesce((SELECT coalesce(k.outcome, (SELECT j.state FROM job AS j WHERE j.jid = k.jid)) FROM periodic_tick AS k
	WHERE k.task_id = t.id AND k.decided IS NOT NULL ORDER BY k.due DESC LIMIT 1), '') <> 'success'`

// stale is a condition: no run of a task has succeeded in time. A value keeps PostgreSQL from judging all tasks at once, as EXISTS would.
const stale = `(SELECT s.id FROM periodic_stale AS s WHERE s.id = t.id) IS NOT NULL`
