package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// claimColumns are the columns of periodic_task that a claim reads: all but args,
// which may be large, and those that it knows. taskColumns are all but args.
const (
	claimColumns = `id, task, group_, subject, submitter, priority, timer, nextrun, created, summary,
	due, starts, ends, overlap, catchup, grace, deadline, jitter, sink, problem`
	taskColumns = `enabled, worker, marked, ` + claimColumns
)

// taskRow is a row of periodic_task.
type taskRow struct {
	ID        string
	Enabled   bool
	Task      string
	Group     string `db:"group_"`
	Args      string
	Subject   string
	Submitter string
	Priority  int
	Worker    *string
	Marked    rowTime
	Timer     string
	NextRun   rowTime
	Created   rowTime
	Summary   *string
	Due       rowTime
	Starts    rowTime
	Ends      rowTime
	Overlap   string
	Catchup   string
	Grace     int64
	Deadline  *int64
	Jitter    int64
	Sink      string
	Problem   *string
}

func (r taskRow) task() periodic.Task {
	seconds := func(n int64) time.Duration { return time.Duration(n) * time.Second }
	t := periodic.Task{
		ID: r.ID, Enabled: r.Enabled, Task: r.Task, Group: r.Group, Args: r.Args, Subject: r.Subject,
		Submitter: r.Submitter, Priority: r.Priority, Worker: deref(r.Worker), Marked: r.Marked.Time(),
		Timer: r.Timer, NextRun: r.NextRun.Time(), Created: r.Created.Time(), Summary: deref(r.Summary),
		Due: r.Due.Time(), Starts: r.Starts.Time(), Ends: r.Ends.Time(),
		Overlap: periodic.Overlap(r.Overlap), Catchup: periodic.Catchup(r.Catchup), Grace: seconds(r.Grace),
		Jitter: seconds(r.Jitter), Sink: periodic.Sink(r.Sink), Problem: deref(r.Problem),
	}
	if r.Deadline != nil {
		d := seconds(*r.Deadline)
		t.Deadline = &d
	}
	return t
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (tx schedulerTx) Claim(ctx context.Context, mark string, limit int) ([]periodic.Task, error) {
	// A mark that a crash of the server loses is a mark that nobody holds: the
	// fence of the submit transaction sees to the rest.
	if err := tx.db.dialect.unimportant(ctx, tx.tx); err != nil {
		return nil, err
	}
	var rows []taskRow
	lock := tx.db.dialect.lockRows()
	err := tx.list(ctx, &rows, `WITH elapsed AS (
			SELECT id FROM periodic_task WHERE `+canBeClaimed+` AND nextrun > $4 AND nextrun <= $2
			ORDER BY nextrun LIMIT $3`+lock+`),
		unplanned AS (
			SELECT id FROM periodic_task WHERE `+canBeClaimed+` AND nextrun <= $4
			ORDER BY nextrun LIMIT $3 - (SELECT count(*) FROM elapsed)`+lock+`),
		ready AS (
			SELECT q.id FROM `+readyQueued+`
			ORDER BY r.seq LIMIT $3 - (SELECT count(*) FROM elapsed) - (SELECT count(*) FROM unplanned)`+lock+`)
		UPDATE periodic_task SET worker = $1, marked = $2
		WHERE id IN (SELECT id FROM elapsed UNION ALL SELECT id FROM unplanned UNION ALL SELECT id FROM ready)
		RETURNING `+claimColumns,
		mark, Timestamp(tx.now), limit, Timestamp(periodic.Unplanned))
	if err != nil {
		return nil, err
	}
	tasks := make([]periodic.Task, len(rows))
	for i, r := range rows {
		r.Enabled, r.Worker, r.Marked.Timestamp = true, &mark, Timestamp(tx.now)
		tasks[i] = r.task()
	}
	if slices.ContainsFunc(tasks, func(t periodic.Task) bool { return t.NextRun.After(tx.now) }) {
		// What earlier batches took is at the front, and in the way of the next.
		if _, err := tx.forgetReady(ctx, 4*limit); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(tasks, func(a, b periodic.Task) int {
		return cmp.Or(a.NextRun.Compare(b.NextRun), cmp.Compare(a.ID, b.ID))
	})
	return tasks, nil
}

func (tx schedulerTx) QueuedTicks(ctx context.Context, ids []string) (map[string][]time.Time, error) {
	r, err := tx.db.newRecords(1, []field{{"id", fieldText}}, len(ids), func(i int) []any { return []any{ids[i]} })
	if err != nil {
		return nil, err
	}
	var rows []struct {
		TaskID string `db:"task_id"`
		Due    Timestamp
	}
	err = tx.list(ctx, &rows, `SELECT k.task_id, k.due FROM `+r.sql+` AS v
		JOIN periodic_tick AS k ON k.task_id = v.id AND k.decision = 'queued' ORDER BY k.due`, r.param)
	queued := map[string][]time.Time{}
	for _, row := range rows {
		queued[row.TaskID] = append(queued[row.TaskID], row.Due.Time())
	}
	return queued, err
}

// DecidedTicks reads from the newest row that is not after the tick on, since
// that one may reach beyond it.
func (tx schedulerTx) DecidedTicks(ctx context.Context, from []periodic.TickKey) (map[string][]periodic.TickRange, error) {
	r, err := tx.db.newRecords(1, []field{{"id", fieldText}, {"since", fieldTime}}, len(from),
		func(i int) []any { return []any{from[i].TaskID, from[i].Due} })
	if err != nil {
		return nil, err
	}
	var rows []struct {
		TaskID string `db:"task_id"`
		Due    Timestamp
		Last   Timestamp
	}
	err = tx.list(ctx, &rows, `SELECT k.task_id, k.due, coalesce(k.until, k.due) AS last FROM `+r.sql+` AS v
		JOIN periodic_tick AS k ON k.task_id = v.id
			AND k.due >= coalesce((SELECT max(due) FROM periodic_tick WHERE task_id = v.id AND due <= v.since), v.since)
			AND k.due >= coalesce((SELECT due FROM periodic_tick WHERE task_id = v.id
				ORDER BY due DESC LIMIT 1 OFFSET $2), '1970-01-01 00:00:00')
		ORDER BY k.due`, r.param, periodic.MaxDecided-1)
	decided := map[string][]periodic.TickRange{}
	for _, row := range rows {
		decided[row.TaskID] = append(decided[row.TaskID], periodic.TickRange{First: row.Due.Time(), Last: row.Last.Time()})
	}
	return decided, err
}

func (tx schedulerTx) Args(ctx context.Context, ids []string, maxBytes int) (map[string]string, error) {
	r, err := tx.db.newRecords(1, []field{{"pos", fieldInt}, {"id", fieldText}}, len(ids),
		func(i int) []any { return []any{i, ids[i]} })
	if err != nil {
		return nil, err
	}
	var rows []struct{ ID, Args string }
	err = tx.list(ctx, &rows, `SELECT t.id, t.args FROM (
			SELECT v.pos, v.id, sum(length(s.args)) OVER (ORDER BY v.pos) AS total
			FROM `+r.sql+` AS v JOIN periodic_task AS s ON s.id = v.id) AS w
		JOIN periodic_task AS t ON t.id = w.id WHERE w.pos = 0 OR w.total <= $2`, r.param, maxBytes)
	args := make(map[string]string, len(rows))
	for _, row := range rows {
		args[row.ID] = row.Args
	}
	return args, err
}
