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

// claimSQL takes waiting jobs in one statement. $1 tasks, $2 limit, $3 the last
// group, $4 phase, $5 high, $6 low, $7 worker, $8 now, $9 groups, if limited.
//
// walk skips along the index of waiting jobs from one (group, task, priority)
// to the next (by three conditions, since SQLite compares rows by the first
// column of an index only) until there are enough groups (seen) with tasks of ours, so it
// never reads a backlog: on lap 0 from the last group on, on lap 1 from the
// beginning to that group. Of each kind, candidate takes the oldest jobs;
// slotted gives them their place in the group's counting scheme, and chosen
// lets groups take turns.
//
// Text is compared byte by byte ({group_}, {task}), which is what
// [jobqueue.Claim.Next] expects. No text has a NUL, so no group lies between
// one and the same with the character 1 after it.
const claimSQL = `WITH RECURSIVE
	task (name) AS (SELECT v.value FROM {tasks} AS v
		WHERE NOT EXISTS (SELECT 1 FROM job_pause AS p WHERE p.kind = 'task' AND p.name = v.value)),
	paused (name) AS (SELECT name FROM job_pause WHERE kind = 'group'),
	walk (lap, group_, task, priority, own, counted, seen) AS (
		SELECT 0, CAST($3 || {one} AS {text}), CAST('' AS {text}), -2147483648, 0, 0, 0
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
		WHERE w.seen <= $2),
	share (quota) AS (SELECT ($2 + count(DISTINCT group_) - 1) / nullif(count(DISTINCT group_), 0) FROM walk WHERE own = 1),
	candidate AS (
		SELECT c.jid, c.submitted, w.group_, w.lap, CASE WHEN w.priority > {middle} THEN 1 ELSE 0 END AS high
		FROM (SELECT * FROM walk WHERE own = 1) AS w {first}),
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
	UPDATE job SET state = 'scheduled', worker = $7, heartbeat = $8, retry = NULL
	WHERE jid IN (SELECT jid FROM chosen) AND {state} = 'waiting' RETURNING ` + jobColumns

// claimStatement fills in claimSQL for a dialect; groups are nil if all are
// served.
func (tx jobTx) claimStatement(tasks records, groups *records) string {
	d := tx.db.dialect
	about := "LEFT JOIN task AS t ON t.name = n.task LEFT JOIN paused AS p ON p.name = n.group_"
	own := "CASE WHEN t.name IS NOT NULL AND p.name IS NULL THEN 1 ELSE 0 END"
	if groups != nil {
		about += " LEFT JOIN " + groups.sql + " AS g ON g.value = n.group_"
		own = "CASE WHEN t.name IS NOT NULL AND p.name IS NULL AND g.value IS NOT NULL THEN 1 ELSE 0 END"
	}
	order := d.bytewise("group_") + ", " + d.bytewise("task") + ", priority, submitted, jid"
	first := d.firstJobs(`state = 'waiting' AND `+d.bytewise("group_")+` = w.group_ AND `+d.bytewise("task")+
		` = w.task AND priority = w.priority`, order, "(SELECT quota FROM share)")
	return strings.NewReplacer("{tasks}", tasks.sql, "{own}", own, "{about}", about, "{order}", order, "{first}", first,
		"{state}", plainState, "{group_}", d.bytewise("group_"), "{task}", d.bytewise("task"), "{one}", "'\x01'",
		"{text}", "varchar", "{middle}", strconv.Itoa((jobqueue.PriorityLow+jobqueue.PriorityHigh)/2),
		"{H}", "CAST($5 AS integer)", "{L}", "CAST($6 AS integer)",
		"{greatest}", d.greatest(), "{least}", d.least()).Replace(claimSQL)
}

func (tx jobTx) claim(ctx context.Context, worker string, c jobqueue.Claim) ([]jobqueue.Job, error) {
	tasks, err := tx.texts(1, c.Tasks)
	if err != nil {
		return nil, err
	}
	args := []any{tasks.param, c.Limit, c.Group, c.Phase, c.High, c.Low, worker, Timestamp(tx.now)}
	var groups *records
	if len(c.Groups) > 0 {
		r, err := tx.texts(9, c.Groups)
		if err != nil {
			return nil, err
		}
		groups, args = &r, append(args, r.param)
	}
	jobs, err := tx.jobs(ctx, tx.claimStatement(tasks, groups), args...)
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
