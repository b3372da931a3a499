// Package finishes judges the ticks that have to finish by a time, and tells hooks what it has found.
package finishes

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/finish"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/periodic"
)

// Most is how many ticks are judged at a time.
const Most = 500

// lockedRetry is how soon a tick is judged whose row somebody else has locked.
const lockedRetry = 250 * time.Millisecond

// Judge judges the ticks whose time for that has come, at most [Most], records what it finds and tells the hooks, in one
// transaction. Of several schedulers one records and tells each finding. next is when more are to be judged; zero: none are open.
func Judge(ctx context.Context, db *sqldb.DB, hooks taskdb.Hooks) (found []taskdb.Finish, next time.Duration, err error) {
	err = db.UpdateWithin(ctx, sqldb.BatchLockWait, func(tx *sqldb.Tx) error {
		open, err := read(ctx, tx)
		if err != nil {
			return err
		}
		crashpoint.At("scheduler/finishes-read")
		if found, err = record(ctx, tx, open); err != nil {
			return err
		}
		if err := tellHooks(ctx, tx, hooks, found); err != nil {
			return err
		}
		var first sqldb.RowTime
		err = tx.First(ctx, &first, `SELECT min(finish_look) FROM periodic_tick WHERE finish_look IS NOT NULL`)
		if at := first.Time(); !at.IsZero() {
			if next = at.Sub(tx.Now()); next <= 0 && len(open) < Most {
				next = lockedRetry
			}
			next = max(next, time.Millisecond)
		}
		crashpoint.At("scheduler/finishes-recorded")
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("judge which jobs finish in time: %w", err)
	}
	return found, next, nil
}

// row is an open tick with its task and its job.
type row struct {
	TaskID   string `db:"task_id"`
	Due      sqldb.Timestamp
	Decision sqldb.RowText
	Reason   sqldb.RowText
	JID      sqldb.RowText
	Decided  sqldb.RowTime
	By       sqldb.RowTime
	Before   sqldb.RowText
	Why      sqldb.RowText

	ID, Task, Group, Subject sqldb.RowText // of the task
	Own, Awaited             bool

	State              sqldb.RowText
	Said               sqldb.RowText
	Attempts           sqldb.RowInt
	Submitted, Started sqldb.RowTime
	Finished           sqldb.RowTime
}

func read(ctx context.Context, tx *sqldb.Tx) ([]row, error) {
	const told = `CASE k.outcome WHEN 'gone' THEN 'success' ELSE k.outcome END`
	job := `j.jid IS NOT NULL AS own, coalesce(j.state, ` + told + `) AS state, coalesce(j.result, k.error) AS said, coalesce(j.retries + 1, k.attempts) AS attempts,
			coalesce(j.submitted, k.decided) AS submitted, j.started, CASE WHEN j.jid IS NULL THEN k.finished ELSE j.finished END AS finished`
	var rows []row
	err := tx.Select(ctx, &rows, `SELECT k.task_id, k.due, k.decision, k.reason, k.jid, k.decided, k.finish_by AS "by", k.finish AS before, k.finish_why AS why,
			t.id, t.task, t.group_ AS "group", t.subject, a.task_id IS NOT NULL AS awaited, `+job+`
		FROM (SELECT * FROM periodic_tick WHERE finish_look <= $1 ORDER BY finish_look LIMIT $2) AS k
		LEFT JOIN periodic_task AS t ON t.id = k.task_id
		LEFT JOIN periodic_awaited AS a ON a.task_id = k.task_id AND a.due = k.due
		LEFT JOIN job AS j ON j.jid = k.jid`, sqldb.Timestamp(tx.Now()), Most)
	return rows, err
}

func (r *row) facts(now time.Time) finish.Facts {
	return finish.Facts{
		Now: now, Due: r.Due.Time(), By: r.By.Time(), Decision: string(r.Decision), Reason: string(r.Reason),
		Before: finish.State(r.Before), Why: string(r.Why), Job: r.Own, Awaited: r.Awaited, State: string(r.State), Said: string(r.Said),
		Submitted: r.Submitted.Time(), Started: r.Started.Time(), Ended: r.Finished.Time(),
	}
}

// usual reads how long the last runs of tasks took that succeeded: in nextrun's own queue the last attempt, in another one
// from the submission on.
func usual(ctx context.Context, tx *sqldb.Tx, rows []row) (map[string][]time.Duration, error) {
	ids, seen := []string(nil), map[string]bool{}
	for _, r := range rows {
		if !seen[r.TaskID] {
			seen[r.TaskID], ids = true, append(ids, r.TaskID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	const began, ended = `CASE WHEN j.jid IS NULL THEN k.decided ELSE j.started END`, `CASE WHEN j.jid IS NULL THEN k.finished ELSE j.finished END`
	list, took := `string_agg(CAST(round(r.took) AS text), ' ')`, `extract(epoch FROM r.ended - r.began) * 1000`
	if tx.SQL().IsSQLite() {
		list, took = `group_concat(CAST(round(r.took) AS integer), ' ')`, `(julianday(r.ended) - julianday(r.began)) * 86400000.0`
	}
	asked, err := tx.Texts(1, ids)
	if err != nil {
		return nil, err
	}
	var found []struct {
		ID   string
		Took sqldb.RowText
	}
	err = tx.Select(ctx, &found, `SELECT v.value AS id, (SELECT `+list+` FROM (
			SELECT `+took+` AS took FROM (
				SELECT k.due, `+began+` AS began, `+ended+` AS ended FROM (
					SELECT due, jid, decided, outcome, finished FROM periodic_tick
					WHERE task_id = v.value AND decision = 'submitted' ORDER BY due DESC LIMIT 200) AS k LEFT JOIN job AS j ON j.jid = k.jid
				WHERE coalesce(j.state, k.outcome) IN ('success', 'gone')) AS r
			WHERE r.began >= '1970-01-01 00:00:00' AND r.ended >= r.began AND r.ended < '9999-12-31 00:00:00'
			ORDER BY r.due DESC LIMIT `+strconv.Itoa(finish.MostRuns)+`) AS r) AS took
		FROM `+asked.SQL+` AS v`, asked.Param)
	runs := make(map[string][]time.Duration, len(found))
	for _, f := range found {
		for _, one := range strings.Fields(string(f.Took)) {
			if ms, err := strconv.ParseInt(one, 10, 64); err == nil {
				runs[f.ID] = append(runs[f.ID], time.Duration(ms)*time.Millisecond)
			}
		}
	}
	return runs, err
}

// record writes what is found of open ticks, and returns those of which something new is to be told.
func record(ctx context.Context, tx *sqldb.Tx, open []row) ([]taskdb.Finish, error) {
	runs, err := usual(ctx, tx, open)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	found := make(map[periodic.TickKey]taskdb.Finish, len(open))
	fields := []sqldb.Field{
		sqldb.Text("of_task"), sqldb.Time("of_due"), sqldb.Text("before"), sqldb.Text("state"), sqldb.Text("why"), sqldb.Time("ended"), sqldb.Time("look"),
	}
	r, err := tx.DB().Records(1, fields, len(open), func(i int) []any {
		o := &open[i]
		f := o.facts(tx.Now())
		f.Runs, f.Usual = len(runs[o.TaskID]), finish.Usual(runs[o.TaskID])
		v := finish.Judge(f)
		v.Why = text.Clean(v.Why, 490)
		if v.State != f.Before {
			found[periodic.TickKey{TaskID: o.TaskID, Due: o.Due.Time()}] = o.finish(v)
		}
		return []any{o.TaskID, o.Due.Time(), string(f.Before), sqldb.Nullable(string(v.State)), sqldb.Nullable(v.Why), v.Ended, v.Look}
	})
	if err != nil {
		return nil, err
	}
	// Another scheduler that has locked a row, or has written it, judges that tick.
	var written []struct {
		TaskID string `db:"task_id"`
		Due    sqldb.Timestamp
	}
	err = tx.Select(ctx, &written, `UPDATE periodic_tick SET finish = v.state, finish_why = v.why, finish_ended = coalesce(v.ended, finish_ended), finish_look = v.look
		FROM `+r.SQL+` AS v
		WHERE task_id = v.of_task AND due = v.of_due AND coalesce(finish, '') = v.before AND finish_look <= $2
			AND (task_id, due) IN (SELECT k.task_id, k.due FROM periodic_tick AS k
				WHERE (k.task_id, k.due) IN (SELECT w.of_task, w.of_due FROM `+r.SQL+` AS w)`+tx.SQL().ForUpdate+`)
		RETURNING task_id, due`, r.Param, sqldb.Timestamp(tx.Now()))
	var list []taskdb.Finish
	for _, w := range written {
		if f, ok := found[periodic.TickKey{TaskID: w.TaskID, Due: w.Due.Time()}]; ok {
			list = append(list, f)
		}
	}
	return list, err
}

func (r *row) finish(v finish.Verdict) taskdb.Finish {
	f := taskdb.Finish{
		State: v.State, Why: v.Why, Own: r.Own, Submitted: r.Submitted.Time(), Started: r.Started.Time(), Finished: v.Ended, JobState: string(r.State),
		Attempts: r.Attempts.N,
		Tick: periodic.Tick{
			TaskID: r.TaskID, Due: r.Due.Time(), Decision: periodic.Decision(r.Decision), Reason: string(r.Reason), JID: string(r.JID),
			Decided: r.Decided.Time(), FinishBy: r.By.Time(),
		},
	}
	if r.ID != "" {
		f.Task = &periodic.Task{ID: string(r.ID), Task: string(r.Task), Group: string(r.Group), Subject: string(r.Subject)}
	}
	return f
}

// tellHooks tells the hooks what is at risk, and what is late.
func tellHooks(ctx context.Context, tx *sqldb.Tx, hooks taskdb.Hooks, found []taskdb.Finish) error {
	if hooks == nil {
		return nil
	}
	var told []taskdb.Finish
	for _, f := range found {
		if f.Task != nil && hooks.HearsFinish(f.Task, f.State) {
			told = append(told, f)
		}
	}
	if len(told) == 0 {
		return nil
	}
	if err := hooks.TellFinishes(ctx, tx.DBTX(), tx.Now(), told); err != nil {
		return fmt.Errorf("write the events of hooks: %w", err)
	}
	return nil
}
