package jobs

import "strings"

// Text is compared byte by byte ({group_}, {task}), which is what
// [exchange.Turn] expects.
const ownTasks = filledSQL + `,
	task (name) AS (SELECT v.value FROM {tasks} AS v
		WHERE NOT EXISTS (SELECT 1 FROM filled AS f WHERE f.kind = 'handler' AND f.name = v.value)),
	held (name) AS (SELECT name FROM filled WHERE kind = 'group')`

// walkSQL finds the groups that have waiting jobs. $1 tasks, $2 the number of
// groups wanted, $3 the last group.
//
// For each task it skips along the index of waiting jobs from one group to the
// next (a loose index scan): from the last group to the end, then from the
// beginning to the last group. So it reads one row of each group, neither a
// backlog nor jobs of other tasks. Groups that are full do not count.
const walkSQL = `WITH RECURSIVE {own},
	walk (task, group_, step, seen) AS (
		SELECT name, CAST($3 AS varchar), 0, 0 FROM task
		UNION ALL
		SELECT w.task, CASE WHEN w.step = 0 OR {w.group_} > $3 THEN coalesce(
				(SELECT group_ FROM job WHERE {claimable} AND {task} = w.task AND {group_} > w.group_ ORDER BY {order} LIMIT 1),
				(SELECT group_ FROM job WHERE {claimable} AND {task} = w.task AND {group_} <= $3 ORDER BY {order} LIMIT 1))
			ELSE
				(SELECT group_ FROM job WHERE {claimable} AND {task} = w.task AND {group_} > w.group_ AND {group_} <= $3
					ORDER BY {order} LIMIT 1) END,
			w.step + 1, w.seen + CASE WHEN w.step = 0{orHeld} THEN 0 ELSE 1 END
		FROM walk AS w{joinHeld}
		WHERE w.group_ IS NOT NULL AND w.seen <= $2)
	SELECT task, group_ AS "group", {maxOf} FROM walk AS w
	WHERE step > 0 AND group_ IS NOT NULL{notHeld}`

// heldSQL says which limits there are. Most often there are none, and then the walk is a
// statement that takes PostgreSQL a third of the time to plan.
const heldSQL = `SELECT EXISTS (SELECT 1 FROM job_limit WHERE kind IN ('group', 'handler')) AS kinds,
	EXISTS (SELECT 1 FROM job_limit WHERE kind = 'task') AS tasks`

// held are the kinds of limits that a database has.
type held struct {
	Kinds bool // of groups or handlers
	Tasks bool
}

// walk is walkSQL for a database that has limits of groups and handlers, or none.
func (h held) walk() string {
	own, orHeld, joinHeld, maxOf, notHeld := "task (name) AS (SELECT v.value FROM {tasks} AS v)", "", "", "0 AS handlermax, 0 AS groupmax", ""
	if h.Kinds {
		own, maxOf = ownTasks, maxOfKind
		orHeld, joinHeld = " OR h.name IS NOT NULL", " LEFT JOIN held AS h ON h.name = w.group_"
		notHeld = " AND NOT EXISTS (SELECT 1 FROM held AS h WHERE h.name = w.group_)"
	}
	return strings.NewReplacer("{own}", own, "{orHeld}", orHeld, "{joinHeld}", joinHeld, "{maxOf}", maxOf, "{notHeld}", notHeld).
		Replace(walkSQL)
}

// groupsSQL finds which of the given groups have waiting jobs. $1 tasks, $2
// groups.
const groupsSQL = `WITH ` + ownTasks + `
	SELECT task, group_ AS "group", ` + maxOfKind + `
	FROM (SELECT t.name AS task, g.value AS group_ FROM task AS t CROSS JOIN {groups} AS g) AS w
	WHERE EXISTS (SELECT 1 FROM job WHERE {claimable} AND {task} = w.task AND {group_} = w.group_)
		AND NOT EXISTS (SELECT 1 FROM held AS h WHERE h.name = w.group_)`

// candidatesSQL finds the oldest jobs of each kind, of high and of low priority.
// $1 kinds, $2 how many of each, then jobs to leave out.
const candidatesSQL = `SELECT c.jid, c.submitted, w.group_ AS "group", w.task, w.high, w.handlermax, w.groupmax
	FROM {kinds} AS w {first}`

// limitedSQL is the same in a database that has limits of periodic tasks. Together with
// notFull, it leaves out the jobs of those that are full.
const limitedSQL = `WITH ` + filledSQL + `
	SELECT c.jid, c.submitted, w.group_ AS "group", w.task, w.high, w.handlermax, w.groupmax, c.tracker, l.max AS task_max
	FROM {kinds} AS w {first} LEFT JOIN job_limit AS l ON l.kind = 'task' AND l.name = c.tracker`

const notFull = " AND (tracker IS NULL OR tracker NOT IN (SELECT f.name FROM filled AS f WHERE f.kind = 'task'))"

// onlySQL finds which of the given jobs can be claimed. $1 jobs, $2 tasks.
const onlySQL = `WITH ` + ownTasks + `
	SELECT jid, submitted, group_ AS "group", task, {high} AS high, ` + maxOfKind + `, tracker,
		(SELECT l.max FROM job_limit AS l WHERE l.kind = 'task' AND l.name = w.tracker) AS task_max
	FROM job AS w WHERE jid IN (SELECT v.value FROM {jids} AS v) AND {claimableByID}
		AND task IN (SELECT name FROM task) AND group_ NOT IN (SELECT name FROM held)`

// claimSQL begins jobs, or cancels them if somebody has asked for that. $1 jobs,
// $2 worker, $3 now, $4 now in milliseconds.
var claimSQL = `UPDATE job SET worker = $2, retry = NULL,
		state = CASE WHEN cancel IS NULL THEN 'running' ELSE 'cancelled' END,
		started = CASE WHEN cancel IS NULL THEN $3 ELSE started END,
		startedmillis = CASE WHEN cancel IS NULL THEN $4 ELSE startedmillis END,
		progress = CASE WHEN cancel IS NULL THEN 0 ELSE progress END,
		finished = CASE WHEN cancel IS NULL THEN finished ELSE $3 END,
		result = CASE WHEN cancel IS NULL THEN NULL ELSE 'cancelled before it began' END
	WHERE jid IN (SELECT v.value FROM {jids} AS v) AND {claimableByID} RETURNING ` + jobColumns

// highPriority is the third column of the index of waiting jobs, written exactly as
// there: otherwise no query would use the index.
const highPriority = "(priority > 5)"

// fill fills in what differs between the dialects.
func (tx jobTx) fill(statement string, more ...string) string {
	d := tx.SQL()
	group, task := d.Bytewise("group_"), d.Bytewise("task")
	order := strings.Join([]string{task, group, highPriority, "submitted", "jid"}, ", ")
	return strings.NewReplacer(append(more, "{order}", order, "{claimableByID}", claimableByID, "{claimable}", claimable, "{high}", highPriority,
		"{group_}", group, "{task}", task, "{w.group_}", d.Bytewise("w.group_"))...).Replace(statement)
}

// filledSQL are the groups, handlers and tasks of which as many jobs run as their limits
// allow. It reads the jobs that run, and those only if there is a limit of their kind.
const filledSQL = `busy (kind, name, n) AS (
		SELECT 'group', group_, count(*) FROM job WHERE ` + hasWorker + ` AND EXISTS (SELECT 1 FROM job_limit WHERE kind = 'group') GROUP BY group_
		UNION ALL
		SELECT 'handler', task, count(*) FROM job WHERE ` + hasWorker + ` AND EXISTS (SELECT 1 FROM job_limit WHERE kind = 'handler') GROUP BY task
		UNION ALL
		SELECT 'task', tracker, count(*) FROM job
		WHERE ` + hasWorker + ` AND tracker IS NOT NULL AND EXISTS (SELECT 1 FROM job_limit WHERE kind = 'task') GROUP BY tracker),
	filled (kind, name, max) AS (SELECT l.kind, l.name, l.max FROM job_limit AS l LEFT JOIN busy AS b ON b.kind = l.kind AND b.name = l.name
		WHERE l.max <= coalesce(b.n, 0))`

// maxOfKind are the limits of the handler and the group of w.
const maxOfKind = `coalesce((SELECT l.max FROM job_limit AS l WHERE l.kind = 'handler' AND l.name = w.task), 0) AS handlermax,
		coalesce((SELECT l.max FROM job_limit AS l WHERE l.kind = 'group' AND l.name = w.group_), 0) AS groupmax`

// lockSQL locks the scopes $1, and finds those that another claim has.
const lockSQL = `SELECT kind, name, 2000000000 AS n FROM (SELECT v.kind, v.name, {lock} AS locked FROM {scopes} AS v) AS s WHERE NOT locked`

// countSQL counts the running jobs of the scopes $1. All jobs that run are read, which
// are as many as fit into the executors.
const countSQL = `SELECT 'handler' AS kind, task AS name, count(*) AS n FROM job
		WHERE ` + hasWorker + ` AND task IN (SELECT v.name FROM {scopes} AS v WHERE v.kind = 'handler') GROUP BY task
	UNION ALL SELECT 'group', group_, count(*) FROM job
		WHERE ` + hasWorker + ` AND group_ IN (SELECT v.name FROM {scopes} AS v WHERE v.kind = 'group') GROUP BY group_
	UNION ALL SELECT 'task', tracker, count(*) FROM job
		WHERE ` + hasWorker + ` AND tracker IN (SELECT v.name FROM {scopes} AS v WHERE v.kind = 'task') GROUP BY tracker`

// nothingSQL says when the first job that waits for a time may begin, and whether jobs
// of the tasks $1 wait for others whose limit is used up. Who is paused waits for nobody.
// With a LIMIT, PostgreSQL looks each up in the index; it might put a whole backlog into a hash.
const nothingSQL = `WITH ` + filledSQL + `
	SELECT (SELECT retry FROM job WHERE ` + waitsForTime + ` AND state = 'waiting' ORDER BY retry LIMIT 1) AS later,
		EXISTS (SELECT 1 FROM filled AS f CROSS JOIN {tasks} AS t
			WHERE f.max > 0 AND CASE f.kind
				WHEN 'group' THEN (SELECT 1 FROM job WHERE {claimable} AND {task} = t.value AND {group_} = f.name LIMIT 1)
				WHEN 'handler' THEN (SELECT 1 FROM job WHERE {claimable} AND {task} = t.value AND f.name = t.value LIMIT 1)
				ELSE (SELECT 1 FROM job WHERE ` + pending + ` AND {claimable} AND tracker = f.name AND task = t.value LIMIT 1)
			END = 1) AS limited`
