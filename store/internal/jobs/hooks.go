package jobs

import (
	"cmp"
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/store/internal/turning"
)

// hookLines is how many of the last lines of its log go with a job that has ended, and
// hookWidth how many of the last characters of each: more than a hook receives.
const (
	hookLines = 50
	hookWidth = 8<<10 + 1
)

// tellHooks tells the hooks of the jobs that have ended in this transaction.
func (tx jobTx) tellHooks(ctx context.Context, q exchange.Request, result exchange.Result) error {
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
func (tx jobTx) endsToTell(ctx context.Context, q exchange.Request, done []string) ([]exchange.Told, error) {
	by := make(map[string]exchange.Transition, len(q.Transitions))
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
	r := tx.Texts(1, jids)
	jobs, err := tx.jobs(ctx, slimColumns, "SELECT "+slimJobColumns+" FROM job WHERE jid IN (SELECT v.value FROM "+r.SQL+" AS v) ORDER BY jid", r.Param)
	if err != nil {
		return nil, err
	}
	var ends []turning.End
	for _, job := range jobs {
		if !job.Due.IsZero() {
			ends = append(ends, turning.End{Task: job.Tracker, Due: job.Due, JID: job.JID})
		}
	}
	turned, err := turning.Of(ctx, tx.Tx, ends)
	if err != nil {
		return nil, err
	}
	var told []exchange.Told
	for _, job := range jobs {
		if q.Hooks.Hears(job.Task, job.Tracker, job.State, turned[job.JID]) {
			job.Traceparent = cmp.Or(by[job.JID].Traceparent, job.Traceparent)
			told = append(told, exchange.Told{Job: job, Turned: turned[job.JID]})
		}
	}
	return told, tx.lastLines(ctx, told)
}

// lastLines reads the end of the logs of jobs.
func (tx jobTx) lastLines(ctx context.Context, told []exchange.Told) error {
	if len(told) == 0 {
		return nil
	}
	jids := make([]string, len(told))
	at := map[string]int{}
	for i := range told {
		jids[i] = told[i].Job.JID
		at[jids[i]] = i
	}
	r := tx.Texts(1, jids)
	var lines []struct{ JID, Message string }
	err := tx.Select(ctx, &lines, `SELECT l.jid, substr(l.message, `+tx.SQL().Greatest+`(1, length(l.message) - $3 + 1)) AS message FROM `+r.SQL+` AS v JOIN joblog AS l ON l.jid = v.value
		WHERE l.counter > (SELECT max(m.counter) FROM joblog AS m WHERE m.jid = v.value) - $2
		ORDER BY l.jid, l.counter`, r.Param, hookLines, hookWidth)
	for _, line := range lines {
		job := &told[at[line.JID]]
		job.Lines = append(job.Lines, line.Message)
	}
	return err
}
