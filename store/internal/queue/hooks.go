package queue

import (
	"cmp"
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// hookLines is how many of the last lines of its log go with a job that has ended, and
// hookWidth how many characters of each: more than a hook receives.
const (
	hookLines = 50
	hookWidth = 8<<10 + 1
)

// tellHooks tells the hooks of the jobs that have ended in this transaction.
func (tx jobTx) tellHooks(ctx context.Context, q jobdb.Request, result jobdb.Result) error {
	if q.Hooks == nil {
		return nil
	}
	told, err := tx.endsToTell(ctx, q, result.Done)
	if err != nil {
		return fmt.Errorf("read the jobs for hooks: %w", err)
	}
	if len(told) == 0 {
		return nil
	}
	if err := q.Hooks.Tell(ctx, tx.DBTX(), tx.Now(), told); err != nil {
		return fmt.Errorf("insert the jobs of hooks: %w", err)
	}
	tx.Changes(sqldb.TopicJobs)
	return nil
}

// endsToTell are the jobs that have succeeded or failed and of which somebody wants to hear.
func (tx jobTx) endsToTell(ctx context.Context, q jobdb.Request, done []string) ([]jobdb.Told, error) {
	by := make(map[string]jobdb.Transition, len(q.Transitions))
	for _, t := range q.Transitions {
		by[t.JID] = t
	}
	var jids []string
	for _, jid := range done {
		if to := by[jid].To; to.Final() && q.Hooks.Hears("", "", to, "") {
			jids = append(jids, jid)
		}
	}
	if len(jids) == 0 {
		return nil, nil
	}
	r, err := tx.Texts(1, jids)
	if err != nil {
		return nil, err
	}
	jobs, err := tx.jobs(ctx, slimColumns, "SELECT "+slimJobColumns+" FROM job WHERE jid IN (SELECT v.value FROM "+r.SQL+" AS v) ORDER BY jid", r.Param)
	if err != nil {
		return nil, err
	}
	turned, err := tx.turned(ctx, jobs)
	if err != nil {
		return nil, err
	}
	var told []jobdb.Told
	for _, job := range jobs {
		if q.Hooks.Hears(job.Task, job.Tracker, job.State, turned[job.JID]) {
			job.Traceparent = cmp.Or(by[job.JID].Traceparent, job.Traceparent)
			told = append(told, jobdb.Told{Job: job, Turned: turned[job.JID]})
		}
	}
	return told, tx.lastLines(ctx, told)
}

// turned is what the ends of jobs did to their tasks, as a trigger has noted with their ticks.
func (tx jobTx) turned(ctx context.Context, jobs []jobqueue.Job) (map[string]jobqueue.Turned, error) {
	r, err := tx.DB().Records(1, []sqldb.Field{sqldb.Text("task"), sqldb.Time("due"), sqldb.Text("jid")}, len(jobs),
		func(i int) []any { return []any{jobs[i].Tracker, jobs[i].Due, jobs[i].JID} })
	if err != nil {
		return nil, err
	}
	var rows []struct{ JID, Turned string }
	err = tx.Select(ctx, &rows, `SELECT k.jid, k.turned FROM `+r.SQL+` AS v
		JOIN periodic_tick AS k ON k.task_id = v.task AND k.due = v.due AND k.jid = v.jid WHERE k.turned IS NOT NULL`, r.Param)
	turned := make(map[string]jobqueue.Turned, len(rows))
	for _, row := range rows {
		turned[row.JID] = jobqueue.Turned(row.Turned)
	}
	return turned, err
}

// lastLines reads the end of the logs of jobs.
func (tx jobTx) lastLines(ctx context.Context, told []jobdb.Told) error {
	if len(told) == 0 {
		return nil
	}
	jids := make([]string, len(told))
	at := map[string]int{}
	for i := range told {
		jids[i] = told[i].Job.JID
		at[jids[i]] = i
	}
	r, err := tx.Texts(1, jids)
	if err != nil {
		return err
	}
	var lines []struct{ JID, Message string }
	err = tx.Select(ctx, &lines, `SELECT l.jid, substr(l.message, 1, $3) AS message FROM `+r.SQL+` AS v JOIN joblog AS l ON l.jid = v.value
		WHERE l.counter > (SELECT max(m.counter) FROM joblog AS m WHERE m.jid = v.value) - $2
		ORDER BY l.jid, l.counter`, r.Param, hookLines, hookWidth)
	for _, line := range lines {
		job := &told[at[line.JID]]
		job.Lines = append(job.Lines, line.Message)
	}
	return err
}
