package queue

import "strings"

// Text is compared byte by byte ({group_}, {task}), which is what
// [jobdb.Turn] expects.
const ownTasks = fullSQL + `,
	task (name) AS (SELECT v.value FROM {tasks} AS v
		WHERE NOT EXISTS (SELECT 1 FROM job_pause AS p WHERE p.kind = 'task' AND p.name = v.value)
			AND NOT EXISTS (SELECT 1 FROM filled AS f WHERE f.kind = 'task' AND f.name = v.value)),
	paused (name) AS (SELECT name FROM job_pause WHERE kind = 'group' UNION SELECT name FROM filled WHERE kind = 'group')`

// walkSQL finds the groups that have waiting jobs. $1 tasks, $2 the number of
// groups wanted, $3 the last group.
//
// For each task it skips along the index of waiting jobs from one group to the
// next (a loose index scan): from the last group to the end, then from the
// beginning to the last group. So it reads one row of each group, neither a
// backlog nor jobs of other tasks. Groups that are paused or full do not count.
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
			w.step + 1, w.seen + CASE WHEN w.step = 0{orPaused} THEN 0 ELSE 1 END
		FROM walk AS w{joinPaused}
		WHERE w.group_ IS NOT NULL AND w.seen <= $2)
	SELECT task, group_, {mostOf}, ` + trackersBusy + ` AS trackers FROM walk AS w
	WHERE step > 0 AND group_ IS NOT NULL{notPaused}`

// heldSQL says whether anything is paused or limited in the database. Most often nothing
// is, and then the walk is a statement that takes PostgreSQL a third of the time to plan.
const heldSQL = `SELECT EXISTS (SELECT 1 FROM job_pause) OR EXISTS (SELECT 1 FROM job_limit) AS held`

// walk is walkSQL for a database in which something is paused or limited, or nothing.
func walk(held bool) string {
	own, orPaused, joinPaused, most, notPaused := "task (name) AS (SELECT v.value FROM {tasks} AS v)", "", "", "0 AS task_most, 0 AS group_most", ""
	if held {
		own, most = ownTasks, mostOf
		orPaused, joinPaused = " OR p.name IS NOT NULL", " LEFT JOIN paused AS p ON p.name = w.group_"
		notPaused = " AND NOT EXISTS (SELECT 1 FROM paused AS p WHERE p.name = w.group_)"
	}
	return strings.NewReplacer("{own}", own, "{orPaused}", orPaused, "{joinPaused}", joinPaused, "{mostOf}", most, "{notPaused}", notPaused).
		Replace(walkSQL)
}

// groupsSQL finds which of the given groups have waiting jobs. $1 tasks, $2
// groups.
const groupsSQL = `WITH ` + ownTasks + `
	SELECT task, group_, ` + mostOf + `, ` + trackersBusy + ` AS trackers
	FROM (SELECT t.name AS task, g.value AS group_ FROM task AS t CROSS JOIN {groups} AS g) AS w
	WHERE EXISTS (SELECT 1 FROM job WHERE {claimable} AND {task} = w.task AND {group_} = w.group_)
		AND NOT EXISTS (SELECT 1 FROM paused AS p WHERE p.name = w.group_)`

// candidatesSQL finds the oldest jobs of each kind, of high and of low priority.
// $1 kinds, $2 how many of each, then jobs to leave out, and trackers of which jobs
// run that have a limit of their own.
const candidatesSQL = `SELECT c.jid, c.submitted, w.group_, w.task, w.high, w.task_most, w.group_most, c.tracker, c.concurrency
	FROM {kinds} AS w {first}`

// onlySQL finds which of the given jobs can be claimed. $1 jobs, $2 tasks.
const onlySQL = `WITH ` + ownTasks + `
	SELECT jid, submitted, group_, task, {high} AS high, ` + mostOf + `, tracker, concurrency FROM job AS w
	WHERE jid IN (SELECT v.value FROM {jids} AS v) AND {claimableByID}
		AND task IN (SELECT name FROM task) AND group_ NOT IN (SELECT name FROM paused)`

// takeSQL begins jobs, or cancels them if somebody has asked for that. $1 jobs,
// $2 worker, $3 now, $4 now in milliseconds.
var takeSQL = `UPDATE job SET worker = $2, retry = NULL,
		state = CASE WHEN cancel IS NULL THEN 'running' ELSE 'cancelled' END,
		heartbeat = CASE WHEN cancel IS NULL THEN $3 ELSE heartbeat END,
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

// fullSQL are the groups and tasks of which as many jobs run as their limits allow.
// {handlers} joins the limits that handlers have, {most} is a limit of either. It reads
// the jobs that run, and those only if there is a limit.
const fullSQL = `busy (kind, name, n) AS (
		SELECT 'task', task, count(*) FROM job WHERE ` + hasWorker + ` AND {taskLimits} GROUP BY task
		UNION ALL
		SELECT 'group', group_, count(*) FROM job WHERE ` + hasWorker + ` AND ` + groupLimits + ` GROUP BY group_),
	filled (kind, name) AS (SELECT b.kind, b.name FROM busy AS b LEFT JOIN job_limit AS l ON l.kind = b.kind AND l.name = b.name{handlers}
		WHERE b.n >= {most})`

const (
	taskLimits  = "EXISTS (SELECT 1 FROM job_limit WHERE kind = 'task')"
	groupLimits = "EXISTS (SELECT 1 FROM job_limit WHERE kind = 'group')"
	// mostOf are the limits that the database has for the task and the group of w.
	mostOf = `coalesce((SELECT l.most FROM job_limit AS l WHERE l.kind = 'task' AND l.name = w.task), 0) AS task_most,
		coalesce((SELECT l.most FROM job_limit AS l WHERE l.kind = 'group' AND l.name = w.group_), 0) AS group_most`
	// trackersBusy says whether jobs run that have a limit of their own.
	trackersBusy = "EXISTS (SELECT 1 FROM job WHERE " + hasWorker + " AND concurrency IS NOT NULL)"
)

// lockSQL locks the scopes $1, and finds those that another claim has.
const lockSQL = `SELECT kind, name, 2000000000 AS n FROM (SELECT v.kind, v.name, {lock} AS locked FROM {scopes} AS v) AS s WHERE NOT locked`

// countSQL counts the running jobs of the scopes $1. All jobs that run are read, which
// are as many as fit into the executors.
const countSQL = `SELECT 'task' AS kind, task AS name, count(*) AS n FROM job
		WHERE ` + hasWorker + ` AND task IN (SELECT v.name FROM {scopes} AS v WHERE v.kind = 'task') GROUP BY task
	UNION ALL SELECT 'group', group_, count(*) FROM job
		WHERE ` + hasWorker + ` AND group_ IN (SELECT v.name FROM {scopes} AS v WHERE v.kind = 'group') GROUP BY group_
	UNION ALL SELECT 'tracker', tracker, count(*) FROM job
		WHERE ` + hasWorker + ` AND concurrency IS NOT NULL AND tracker IN (SELECT v.name FROM {scopes} AS v WHERE v.kind = 'tracker')
		GROUP BY tracker`

// nothingSQL says when the first job that waits for a time may begin, and whether jobs
// of the tasks $1 wait for others of a task or a group that is full. With a LIMIT,
// PostgreSQL looks each up in the index; it might put a whole backlog into a hash.
const nothingSQL = `WITH ` + fullSQL + `
	SELECT (SELECT retry FROM job WHERE ` + waitsForTime + ` ORDER BY retry LIMIT 1) AS later,
		EXISTS (SELECT 1 FROM filled AS f CROSS JOIN {tasks} AS t
			WHERE f.kind = 'group' AND (SELECT 1 FROM job WHERE {claimable} AND {task} = t.value AND {group_} = f.name LIMIT 1) = 1
				OR f.kind = 'task' AND f.name = t.value AND (SELECT 1 FROM job WHERE {claimable} AND {task} = t.value LIMIT 1) = 1) AS limited`
