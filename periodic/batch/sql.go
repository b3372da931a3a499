package batch

import "github.com/nextrun/nextrun/jobqueue/exchange"

// Waits is true for a task t that waits for the end of a job: overlap queue lets its tick wait, replace does once
// that job has been asked to end. OFFSET keeps PostgreSQL from making a join of it that begins with all jobs.
const Waits = `CASE WHEN t.overlap IN ('queue', 'replace') AND t.nextrun > '1970-01-01 00:00:00' THEN
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
