package queue

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

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

// claimTx is a transaction that claims jobs.
type claimTx struct{ workTx }

// fill fills in what differs between the dialects.
func (tx jobTx) fill(statement string, more ...string) string {
	d := tx.SQL()
	group, task := d.Bytewise("group_"), d.Bytewise("task")
	order := strings.Join([]string{task, group, highPriority, "submitted", "jid"}, ", ")
	return strings.NewReplacer(append(more, "{order}", order, "{claimableByID}", claimableByID, "{claimable}", claimable, "{high}", highPriority,
		"{group_}", group, "{task}", task, "{w.group_}", d.Bytewise("w.group_"))...).Replace(statement)
}

// claim takes jobs and puts them, and the rest of the answer, into result.
func (tx claimTx) claim(ctx context.Context, worker string, c jobdb.Claim, result *jobdb.Result) error {
	result.Turn = c.Turn
	if c.Limit == 0 || len(c.Tasks) == 0 {
		return nil
	}
	candidates, err := tx.candidates(ctx, c, result)
	if err != nil {
		return err
	}
	running, err := tx.running(ctx, candidates)
	if err != nil {
		return err
	}
	turn := result.Turn
	result.Chosen, result.Turn = c.Choose(candidates, running)
	result.Limited = result.Limited || len(result.Chosen) < min(c.Limit, len(candidates))
	if len(candidates) < c.Limit || running != nil { // kinds may be used up, or full
		result.Kinds = nil
	}
	if len(result.Chosen) == 0 {
		result.Turn = turn
		return tx.nothing(ctx, c, result)
	}
	jids, err := tx.Texts(1, result.Chosen)
	if err != nil {
		return err
	}
	result.Claimed, err = tx.jobs(ctx, allColumns, tx.fill(takeSQL, "{jids}", jids.SQL), jids.Param, worker, sqldb.Timestamp(tx.Now()), tx.Now().UnixMilli())
	crashpoint.At("executor/taken")
	slices.SortFunc(result.Claimed, jobqueue.Job.Compare)
	return err
}

// candidates finds the jobs that a claim may take. It finds no more than its share
// for each group, so that it locks no more rows than the claim may take. The next
// claim takes others.
func (tx claimTx) candidates(ctx context.Context, c jobdb.Claim, result *jobdb.Result) ([]jobdb.Candidate, error) {
	if len(c.Only) > 0 {
		return tx.onlyThese(ctx, c)
	}
	kinds, trackers := c.Kinds, false
	if len(kinds) == 0 {
		found, busy, err := tx.kinds(ctx, c)
		trackers = busy
		if err != nil || len(found) == 0 {
			return nil, err
		}
		kinds, result.More = firstGroups(found, c)
	}
	if result.Kinds = kinds; result.More {
		result.Kinds = nil
	}
	groups := countGroups(kinds)
	r, err := tx.kindRecords(kinds)
	if err != nil {
		return nil, err
	}
	condition, args := "", []any{r.Param, (c.Limit + groups - 1) / groups}
	if len(c.Except) > 0 {
		except, err := tx.Texts(3, c.Except)
		if err != nil {
			return nil, err
		}
		condition = " AND CAST(jid AS text) NOT IN (SELECT v.value FROM " + except.SQL + " AS v)"
		args = append(args, except.Param)
	}
	if trackers {
		full, busy, err := tx.trackersFull(ctx, len(args)+1)
		if err != nil {
			return nil, err
		}
		condition, args = condition+full, append(args, busy)
	}
	first := tx.FirstRows("job", "{claimable} AND {task} = w.task AND {group_} = w.group_ AND {high} = w.high"+condition,
		"{task}, {group_}, {high}", "submitted, jid", "$2")
	candidates, err := tx.readCandidates(ctx, c, tx.fill(tx.fill(candidatesSQL, "{kinds}", r.SQL, "{first}", first)), args...)
	result.Limited = trackers && len(candidates) == 0
	if len(candidates) == 0 && result.More { // all jobs of these groups are locked or limited: go on behind them
		result.Turn.Group = slices.MaxFunc(kinds, func(a, b jobdb.Kind) int { return c.Turn.Order(a.Group, b.Group) }).Group
	}
	return candidates, err
}

func (tx claimTx) onlyThese(ctx context.Context, c jobdb.Claim) ([]jobdb.Candidate, error) {
	jids, err1 := tx.Texts(1, c.Only)
	tasks, err2 := tx.Texts(2, c.Tasks)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	query, args, err := tx.limited(onlySQL+tx.SQL().ForUpdate, c, 3, []any{jids.Param, tasks.Param})
	if err != nil {
		return nil, err
	}
	return tx.readCandidates(ctx, c, tx.fill(query, "{jids}", jids.SQL, "{tasks}", tasks.SQL), args...)
}

func (tx claimTx) readCandidates(ctx context.Context, c jobdb.Claim, query string, args ...any) ([]jobdb.Candidate, error) {
	var rows []struct {
		JID       string
		Submitted sqldb.RowTime
		kindRow
		High        bool
		Tracker     sqldb.RowText
		Concurrency sqldb.RowInt
	}
	if err := tx.Select(ctx, &rows, query, args...); err != nil {
		return nil, err
	}
	candidates := make([]jobdb.Candidate, len(rows))
	for i, r := range rows {
		candidates[i] = jobdb.Candidate{
			JID: r.JID, Group: r.Group, High: r.High, Submitted: r.Submitted.Time(),
			Limits: limitsOfJob(c, r.kind(), string(r.Tracker), r.Concurrency.N),
		}
	}
	return candidates, nil
}
