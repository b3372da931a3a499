package queue

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/jobqueue/backend"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// Text is compared byte by byte ({group_}, {task}), which is what
// [backend.Turn] expects.
const ownTasks = `task (name) AS (SELECT v.value FROM {tasks} AS v
		WHERE NOT EXISTS (SELECT 1 FROM job_pause AS p WHERE p.kind = 'task' AND p.name = v.value)),
	paused (name) AS (SELECT name FROM job_pause WHERE kind = 'group')`

// walkSQL finds the groups that have waiting jobs. $1 tasks, $2 the number of
// groups wanted, $3 the last group.
//
// For each task it skips along the index of waiting jobs from one group to the
// next (a loose index scan): from the last group to the end, then from the
// beginning to the last group. So it reads one row of each group, neither a
// backlog nor jobs of other tasks. Groups that are paused do not count.
const walkSQL = `WITH RECURSIVE ` + ownTasks + `,
	walk (task, group_, step, seen) AS (
		SELECT name, CAST($3 AS varchar), 0, 0 FROM task
		UNION ALL
		SELECT w.task, CASE WHEN w.step = 0 OR {w.group_} > $3 THEN coalesce(
				(SELECT group_ FROM job WHERE {claimable} AND {task} = w.task AND {group_} > w.group_ ORDER BY {order} LIMIT 1),
				(SELECT group_ FROM job WHERE {claimable} AND {task} = w.task AND {group_} <= $3 ORDER BY {order} LIMIT 1))
			ELSE
				(SELECT group_ FROM job WHERE {claimable} AND {task} = w.task AND {group_} > w.group_ AND {group_} <= $3
					ORDER BY {order} LIMIT 1) END,
			w.step + 1, w.seen + CASE WHEN w.step = 0 OR p.name IS NOT NULL THEN 0 ELSE 1 END
		FROM walk AS w LEFT JOIN paused AS p ON p.name = w.group_
		WHERE w.group_ IS NOT NULL AND w.seen <= $2)
	SELECT task, group_ FROM walk AS w
	WHERE step > 0 AND group_ IS NOT NULL AND NOT EXISTS (SELECT 1 FROM paused AS p WHERE p.name = w.group_)`

// groupsSQL finds which of the given groups have waiting jobs. $1 tasks, $2
// groups.
const groupsSQL = `WITH ` + ownTasks + `
	SELECT t.name AS task, g.value AS group_ FROM task AS t CROSS JOIN {groups} AS g
	WHERE EXISTS (SELECT 1 FROM job WHERE {claimable} AND {task} = t.name AND {group_} = g.value)
		AND NOT EXISTS (SELECT 1 FROM paused AS p WHERE p.name = g.value)`

// candidatesSQL finds the oldest jobs of each kind, of high and of low priority.
// $1 kinds, $2 how many of each, $3 jobs to leave out.
const candidatesSQL = `SELECT c.jid, c.submitted, w.group_, w.high FROM {kinds} AS w {first}`

// onlySQL finds which of the given jobs can be claimed. $1 jobs, $2 tasks.
const onlySQL = `WITH ` + ownTasks + `
	SELECT jid, submitted, group_, {high} AS high FROM job
	WHERE jid IN (SELECT v.value FROM {jids} AS v) AND {state} = 'waiting' AND retry IS NULL
		AND task IN (SELECT name FROM task) AND group_ NOT IN (SELECT name FROM paused)`

// takeSQL begins jobs, or cancels them if somebody has asked for that. $1 jobs,
// $2 worker, $3 now, $4 now in milliseconds.
const takeSQL = `UPDATE job SET worker = $2, retry = NULL,
		state = CASE WHEN cancel IS NULL THEN 'running' ELSE 'cancelled' END,
		heartbeat = CASE WHEN cancel IS NULL THEN $3 ELSE heartbeat END,
		started = CASE WHEN cancel IS NULL THEN $3 ELSE started END,
		startedmillis = CASE WHEN cancel IS NULL THEN $4 ELSE startedmillis END,
		progress = CASE WHEN cancel IS NULL THEN 0 ELSE progress END,
		finished = CASE WHEN cancel IS NULL THEN finished ELSE $3 END,
		result = CASE WHEN cancel IS NULL THEN NULL ELSE 'cancelled before it began' END
	WHERE jid IN (SELECT v.value FROM {jids} AS v) AND {state} = 'waiting' AND retry IS NULL RETURNING ` + jobColumns

// highPriority is the third column of the index of waiting jobs, written exactly as
// there: otherwise no query would use the index.
const highPriority = "(priority > 5)"

// claimable is the condition of the index of waiting jobs. Those that wait for a time
// (retry) are not in it.
const claimable = "state = 'waiting' AND retry IS NULL"

// claimTx is a transaction that claims jobs.
type claimTx struct{ jobTx }

// fill fills in what differs between the dialects.
func (tx jobTx) fill(statement string, more ...string) string {
	d := tx.SQL()
	group, task := d.Bytewise("group_"), d.Bytewise("task")
	order := strings.Join([]string{task, group, highPriority, "submitted", "jid"}, ", ")
	return strings.NewReplacer(append(more, "{order}", order, "{state}", plainState, "{claimable}", claimable, "{high}", highPriority,
		"{group_}", group, "{task}", task, "{w.group_}", d.Bytewise("w.group_"))...).Replace(statement)
}

// claim takes jobs and puts them, and the rest of the answer, into result.
func (tx claimTx) claim(ctx context.Context, worker string, c backend.Claim, result *backend.Result) error {
	result.Turn = c.Turn
	if c.Limit == 0 || len(c.Tasks) == 0 {
		return nil
	}
	candidates, err := tx.candidates(ctx, c, result)
	if len(candidates) < c.Limit {
		result.Kinds = nil
	}
	if err == nil && len(candidates) == 0 {
		result.Later, err = tx.later(ctx)
	}
	if err != nil || len(candidates) == 0 {
		return err
	}
	result.Chosen, result.Turn = c.Choose(candidates)
	jids, err := tx.Texts(1, result.Chosen)
	if err != nil {
		return err
	}
	result.Claimed, err = tx.jobs(ctx, tx.fill(takeSQL, "{jids}", jids.SQL), jids.Param, worker, sqldb.Timestamp(tx.Now()), tx.Now().UnixMilli())
	slices.SortFunc(result.Claimed, backend.Job.Compare)
	return err
}

// candidates finds the jobs that a claim may take. It finds no more than its share
// for each group, so that it locks no more rows than the claim may take. The next
// claim takes others.
func (tx claimTx) candidates(ctx context.Context, c backend.Claim, result *backend.Result) ([]backend.Candidate, error) {
	if len(c.Only) > 0 {
		return tx.onlyThese(ctx, c)
	}
	kinds := c.Kinds
	if len(kinds) == 0 {
		found, err := tx.kinds(ctx, c)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		kinds, result.More = firstGroups(found, c)
	}
	if result.Kinds = kinds; result.More {
		result.Kinds = nil
	}
	groups := countGroups(kinds)
	except, err := tx.Texts(3, c.Except)
	if err != nil {
		return nil, err
	}
	columns := []sqldb.Field{sqldb.Text("group_"), sqldb.Text("task"), sqldb.Bool("high")}
	r, err := tx.DB().Records(1, columns, 2*len(kinds), func(i int) []any {
		return []any{kinds[i/2].Group, kinds[i/2].Task, i%2 == 1}
	})
	if err != nil {
		return nil, err
	}
	condition, args := "", []any{r.Param, (c.Limit + groups - 1) / groups}
	if len(c.Except) > 0 {
		condition = " AND CAST(jid AS text) NOT IN (SELECT v.value FROM " + except.SQL + " AS v)"
		args = append(args, except.Param)
	}
	first := tx.FirstRows("job", "{claimable} AND {task} = w.task AND {group_} = w.group_ AND {high} = w.high"+condition,
		"{order}", "$2")
	candidates, err := tx.readCandidates(ctx, tx.fill(tx.fill(candidatesSQL, "{kinds}", r.SQL, "{first}", first)), args...)
	if len(candidates) == 0 && result.More { // all jobs of these groups are locked: go on behind them
		result.Turn.Group = slices.MaxFunc(kinds, func(a, b backend.Kind) int { return c.Turn.Order(a.Group, b.Group) }).Group
	}
	return candidates, err
}

func (tx claimTx) onlyThese(ctx context.Context, c backend.Claim) ([]backend.Candidate, error) {
	jids, err1 := tx.Texts(1, c.Only)
	tasks, err2 := tx.Texts(2, c.Tasks)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return tx.readCandidates(ctx, tx.fill(onlySQL, "{jids}", jids.SQL, "{tasks}", tasks.SQL)+tx.SQL().LockRows,
		jids.Param, tasks.Param)
}

func (tx claimTx) readCandidates(ctx context.Context, query string, args ...any) ([]backend.Candidate, error) {
	var rows []struct {
		JID       string
		Submitted sqldb.RowTime
		Group     string `db:"group_"`
		High      bool
	}
	if err := tx.Select(ctx, &rows, query, args...); err != nil {
		return nil, err
	}
	candidates := make([]backend.Candidate, len(rows))
	for i, r := range rows {
		candidates[i] = backend.Candidate{JID: r.JID, Group: r.Group, High: r.High, Submitted: r.Submitted.Time()}
	}
	return candidates, nil
}

// kinds returns the kinds of waiting jobs that the claim may take, of at least
// one more group than it may take jobs, if there are.
func (tx claimTx) kinds(ctx context.Context, c backend.Claim) (kinds []backend.Kind, err error) {
	tasks, err := tx.Texts(1, c.Tasks)
	if err != nil {
		return nil, err
	}
	statement, args := walkSQL, []any{tasks.Param, wantedGroups(c), c.Turn.Group}
	groups := sqldb.Records{}
	if len(c.Groups) > 0 {
		if groups, err = tx.Texts(2, c.Groups); err != nil {
			return nil, err
		}
		statement, args = groupsSQL, []any{tasks.Param, groups.Param}
	}
	var rows []struct {
		Group string `db:"group_"`
		Task  string
	}
	err = tx.Select(ctx, &rows, tx.fill(statement, "{tasks}", tasks.SQL, "{groups}", groups.SQL), args...)
	for _, row := range rows {
		kinds = append(kinds, backend.Kind{Group: row.Group, Task: row.Task})
	}
	return kinds, err
}

// wantedGroups is how many groups a claim looks at: as many as it may take jobs,
// though groups may have no others than those it leaves out.
func wantedGroups(c backend.Claim) int { return c.Limit + len(c.Except) }

// firstGroups keeps the kinds of as many groups as are wanted, those whose turn
// comes first, and reports whether there are others.
func firstGroups(kinds []backend.Kind, c backend.Claim) (first []backend.Kind, more bool) {
	slices.SortFunc(kinds, func(a, b backend.Kind) int { return c.Turn.Order(a.Group, b.Group) })
	groups := 0
	for i, k := range kinds {
		if i == 0 || k.Group != kinds[i-1].Group {
			groups++
		}
		if groups > wantedGroups(c) {
			return kinds[:i], true
		}
	}
	return kinds, false
}

func countGroups(kinds []backend.Kind) int {
	groups := map[string]bool{}
	for _, k := range kinds {
		groups[k.Group] = true
	}
	return len(groups)
}
