package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/nextrun/nextrun/jobqueue"
)

// LastGroup implements [jobqueue.Store].
func (s JobStore) LastGroup(ctx context.Context, name string) (string, error) {
	var groups []string
	err := s.db.View(ctx, func(tx *Tx) error {
		return tx.list(ctx, &groups, "SELECT groupid FROM jobgroupuse WHERE workerid = $1", name)
	})
	if err != nil || len(groups) == 0 {
		return "", err
	}
	return groups[0], nil
}

// kindsSQL finds out which kinds of jobs wait: which groups, tasks and
// priorities. $1 tasks, $2 the number of groups wanted, $3 the last group, $4
// groups, if limited.
//
// walk skips along the index of waiting jobs from one kind to the next (by
// three conditions, since SQLite compares rows by the first column of an index
// only) until there are enough groups (seen) with tasks of ours, so it never
// reads a backlog: on lap 0 from the last group on, on lap 1 from the beginning
// to that group.
//
// Text is compared byte by byte ({group_}, {task}), which is what
// [jobqueue.Claim.Next] expects. No text has a NUL, so no group lies between
// one and the same with the character 1 after it.
const kindsSQL = `WITH RECURSIVE
	task (name) AS (SELECT v.value FROM {tasks} AS v
		WHERE NOT EXISTS (SELECT 1 FROM job_pause AS p WHERE p.kind = 'task' AND p.name = v.value)),
	paused (name) AS (SELECT name FROM job_pause WHERE kind = 'group'),
	walk (lap, group_, task, priority, own, counted, seen) AS (
		SELECT 0, CAST($3 || {one} AS varchar), CAST('' AS varchar), -2147483648, 0, 0, 0
		UNION ALL SELECT 1, '', '', -2147483648, 0, 0, 0
		UNION ALL
		SELECT w.lap, n.group_, n.task, n.priority, {own},
			CASE WHEN n.group_ = w.group_ THEN {greatest}(w.counted, {own}) ELSE {own} END,
			w.seen + CASE WHEN n.group_ = w.group_ AND w.counted = 1 THEN 0 ELSE {own} END
		FROM walk AS w JOIN job AS n ON n.jid = coalesce(
			(SELECT jid FROM job WHERE state = 'waiting' AND {group_} = w.group_ AND {task} = w.task AND priority > w.priority
				ORDER BY {order} LIMIT 1),
			(SELECT jid FROM job WHERE state = 'waiting' AND {group_} = w.group_ AND {task} > w.task ORDER BY {order} LIMIT 1),
			CASE WHEN w.lap = 0 THEN
			(SELECT jid FROM job WHERE state = 'waiting' AND {group_} > w.group_ ORDER BY {order} LIMIT 1) ELSE
			(SELECT jid FROM job WHERE state = 'waiting' AND {group_} > w.group_ AND {group_} <= $3 ORDER BY {order} LIMIT 1) END)
			{about}
		WHERE w.seen <= $2)
	SELECT group_, task, priority FROM walk WHERE own = 1`

// takeSQL takes waiting jobs of some kinds in one statement. $1 kinds, $2 limit,
// $3 the last group, $4 phase, $5 high, $6 low, $7 worker, $8 now, $9 the quota
// of each kind, $10 whether jobs begin at once, and $11 now in milliseconds.
//
// Of each kind, candidate has the oldest jobs; slotted gives them their place in
// the group's counting scheme, and chosen lets groups take turns.
const takeSQL = `WITH
	candidate AS (
		SELECT c.jid, c.submitted, w.group_, CASE WHEN {w.group_} > $3 THEN 0 ELSE 1 END AS lap,
			CASE WHEN w.priority > {middle} THEN 1 ELSE 0 END AS high
		FROM {kinds} AS w {first}),
	numbered AS (
		SELECT jid, group_, high, lap, ($4 + lap) % ({H} + {L}) AS phase,
			row_number() OVER (PARTITION BY group_, high ORDER BY submitted, jid) - 1 AS n
		FROM candidate),
	slotted AS (
		SELECT jid, group_, lap, CASE WHEN high = 1
			THEN (n + {least}(phase, {H})) / {H} * ({H} + {L}) + (n + {least}(phase, {H})) % {H}
			ELSE (n + {greatest}(phase - {H}, 0)) / {L} * ({H} + {L}) + {H} + (n + {greatest}(phase - {H}, 0)) % {L} END AS slot
		FROM numbered),
	ranked AS (SELECT jid, group_, lap, row_number() OVER (PARTITION BY group_ ORDER BY slot) AS turn FROM slotted),
	chosen AS (SELECT jid FROM ranked ORDER BY turn, lap, {group_} LIMIT $2)
	UPDATE job SET worker = $7, heartbeat = $8, retry = NULL,
		state = CASE WHEN {begins} THEN 'running' ELSE 'scheduled' END,
		started = CASE WHEN {begins} THEN $8 ELSE started END,
		startedmillis = CASE WHEN {begins} THEN $11 ELSE startedmillis END,
		progress = CASE WHEN {begins} THEN 0 ELSE progress END,
		result = CASE WHEN {begins} THEN NULL ELSE result END
	WHERE jid IN (SELECT jid FROM chosen) AND {state} = 'waiting' RETURNING ` + jobColumns

// fill fills in what differs between the dialects.
func (tx jobTx) fill(statement string, more ...string) string {
	d := tx.db.dialect
	order := d.bytewise("group_") + ", " + d.bytewise("task") + ", priority, submitted, jid"
	first := d.firstJobs(`state = 'waiting' AND `+d.bytewise("group_")+` = w.group_ AND `+d.bytewise("task")+
		` = w.task AND priority = w.priority`, order, "$9")
	return strings.NewReplacer(append(more, "{order}", order, "{first}", first, "{state}", plainState, "{one}", "'\x01'",
		"{begins}", "$10 AND cancel IS NULL",
		"{group_}", d.bytewise("group_"), "{task}", d.bytewise("task"), "{w.group_}", d.bytewise("w.group_"),
		"{middle}", strconv.Itoa((jobqueue.PriorityLow+jobqueue.PriorityHigh)/2),
		"{H}", "CAST($5 AS integer)", "{L}", "CAST($6 AS integer)",
		"{greatest}", d.greatest(), "{least}", d.least())...).Replace(statement)
}

// kinds returns the kinds of waiting jobs that the claim may take, of at least
// as many groups as it may take jobs, if there are. complete tells that there
// are no others.
func (tx jobTx) kinds(ctx context.Context, c jobqueue.Claim) (kinds []jobqueue.Kind, complete bool, err error) {
	tasks, err := tx.texts(1, c.Tasks)
	if err != nil {
		return nil, false, err
	}
	args := []any{tasks.param, c.Limit, c.Group}
	about := "LEFT JOIN task AS t ON t.name = n.task LEFT JOIN paused AS p ON p.name = n.group_"
	own := "t.name IS NOT NULL AND p.name IS NULL"
	if len(c.Groups) > 0 {
		groups, err := tx.texts(4, c.Groups)
		if err != nil {
			return nil, false, err
		}
		about += " LEFT JOIN " + groups.sql + " AS g ON g.value = n.group_"
		own += " AND g.value IS NOT NULL"
		args = append(args, groups.param)
	}
	var rows []struct {
		Group    string `db:"group_"`
		Task     string
		Priority rowInt
	}
	err = tx.list(ctx, &rows, tx.fill(kindsSQL, "{tasks}", tasks.sql, "{about}", about,
		"{own}", "CASE WHEN "+own+" THEN 1 ELSE 0 END"), args...)
	for _, row := range rows {
		if row.Priority.ok { // else it cannot be compared with others
			kinds = append(kinds, jobqueue.Kind{Group: row.Group, Task: row.Task, Priority: row.Priority.n})
		}
	}
	return kinds, groupsOf(kinds) <= c.Limit, err
}

func groupsOf(kinds []jobqueue.Kind) int {
	groups := map[string]bool{}
	for _, k := range kinds {
		groups[k.Group] = true
	}
	return len(groups)
}

// take takes jobs of the kinds. A group gets no more than its share, so that
// no more rows are locked than may be taken; what is left is for another claim.
func (tx jobTx) take(ctx context.Context, worker string, c jobqueue.Claim, kinds []jobqueue.Kind) ([]jobqueue.Job, error) {
	columns := []field{{"group_", fieldText}, {"task", fieldText}, {"priority", fieldInt}}
	r, err := tx.db.newRecords(1, columns, len(kinds), func(i int) []any {
		return []any{kinds[i].Group, kinds[i].Task, kinds[i].Priority}
	})
	if err != nil {
		return nil, err
	}
	groups := groupsOf(kinds)
	quota := (c.Limit + groups - 1) / groups
	jobs, err := tx.jobs(ctx, tx.fill(takeSQL, "{kinds}", r.sql),
		r.param, c.Limit, c.Group, c.Phase, c.High, c.Low, worker, Timestamp(tx.now), quota,
		c.Line != nil, tx.now.UnixMilli())
	if err != nil {
		return nil, err
	}
	slices.SortFunc(jobs, jobqueue.Job.Compare)
	return jobs, nil
}

// recordGroup keeps whose turn it was, one row for each worker's name. Another
// process of that name may do the same at the same time.
func (tx jobTx) recordGroup(ctx context.Context, name, group string) error {
	_, err := tx.exec(ctx, `DELETE FROM jobgroupuse WHERE workerid = $1 AND groupid IN (SELECT groupid FROM jobgroupuse
		WHERE workerid = $1 AND groupid <> $2`+tx.db.dialect.lockRows()+`)`, name, group)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "INSERT INTO jobgroupuse (groupid, workerid) VALUES ($2, $1) ON CONFLICT DO NOTHING", name, group)
	return err
}
