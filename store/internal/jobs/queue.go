package jobs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// Job implements [jobqueue.QueueTx].
func (tx jobTx) Job(ctx context.Context, jid string) (jobqueue.Job, error) {
	jobs, err := tx.jobs(ctx, allColumns, "SELECT "+jobColumns+" FROM job WHERE jid = $1", jid)
	if err == nil && len(jobs) == 0 {
		err = sqldb.ErrNotFound
	}
	if err != nil {
		return jobqueue.Job{}, err
	}
	return jobs[0], nil
}

// Jobs implements [jobqueue.QueueTx].
func (tx jobTx) Jobs(ctx context.Context, f jobqueue.Filter) ([]jobqueue.Job, error) {
	where := []string{"true"}
	var args []any
	add := func(condition string, value any) {
		args = append(args, value)
		where = append(where, strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(args))))
	}
	if len(f.States) > 0 {
		states := make([]string, len(f.States))
		for i, state := range f.States {
			args = append(args, string(state))
			states[i] = fmt.Sprintf("$%d", len(args))
		}
		where = append(where, "state IN ("+strings.Join(states, ", ")+")")
	}
	for _, c := range [][2]string{{"group_ = ?", f.Group}, {"task = ?", f.Task}, {"tracker = ?", f.Tracker}, {"replace(jid, ?, '') <> jid", f.Part}} {
		if c[1] != "" {
			add(c[0], c[1])
		}
	}
	if f.Worker != "" {
		args = append(args, service.WorkerName(f.Worker)+service.BootMark)
		named := fmt.Sprintf("substr(worker, 1, length($%[1]d)) = $%[1]d", len(args))
		add("(worker = ? OR "+named+")", f.Worker)
	}
	for _, c := range []struct {
		condition string
		at        time.Time
	}{{"submitted >= ?", f.Since}, {"submitted < ?", f.Until}, {"finished >= ?", f.Ended}} {
		if !c.at.IsZero() {
			add(c.condition, sqldb.Timestamp(c.at))
		}
	}
	order := "submitted"
	if !f.Ended.IsZero() {
		order = "finished"
	}
	where = append(where, hooksIn(f))
	add("true ORDER BY "+order+" DESC, jid DESC LIMIT ?", f.Limit)
	columns, names := listed(f)
	if newest, err := tx.newest(ctx, f, columns, names); err != nil || len(newest) == f.Limit {
		return newest, err
	}
	return tx.jobs(ctx, columns, "SELECT "+names+" FROM "+source(f)+" WHERE "+strings.Join(where, " AND "), args...)
}

// hooksIn is the condition by which jobs of hooks are in a list only if it is asked for them.
func hooksIn(f jobqueue.Filter) string {
	switch {
	case f.Group == jobqueue.HookGroup:
		return ofHooks
	case f.Group == "" && f.Task == "" && f.Part == "":
		return notOfHooks
	}
	return "true"
}

// source is the table that has the jobs of a filter, or the part of it that is in work.
func source(f jobqueue.Filter) string {
	if len(f.States) > 0 && !slices.ContainsFunc(f.States, jobqueue.State.Final) {
		return "(" + inWork + ") AS job"
	}
	return "job"
}

// PendingSingle implements [jobqueue.QueueTx].
func (tx jobTx) PendingSingle(ctx context.Context, tracker string) (string, error) {
	var jids []string
	err := tx.Select(ctx, &jids, "SELECT jid FROM job WHERE tracker = $1 AND single AND "+pending, tracker)
	if err != nil || len(jids) == 0 {
		return "", err
	}
	return jids[0], nil
}

// Add adds jobs that have no tracker, in a transaction of one of our processes.
func (s Store) Add(ctx context.Context, outer jobqueue.DBTX, now time.Time, jobs []jobqueue.Job) error {
	_, err := jobTx{s.db.In(outer, now)}.Insert(ctx, jobs)
	return err
}

// Insert implements [jobqueue.QueueTx].
func (tx jobTx) Insert(ctx context.Context, jobs []jobqueue.Job) ([]string, error) {
	r := tx.DB().Records(1, submitFields, len(jobs), func(i int) []any {
		values := make([]any, 0, len(submitFields))
		for _, c := range submitColumns {
			v := c.Get(&jobs[i])
			if c.Name == "retry" && !v.Time.After(tx.Now()) { // it begins at once
				v = column.Value{Kind: column.Time, Null: true}
			}
			values = append(values, v.Any())
		}
		return append(values, i)
	})
	var added []string
	err := tx.Select(ctx, &added, `INSERT INTO job (submitted, state, retries, progress, `+submitNames+`)
		SELECT $2, 'waiting', 0, 0, `+submittedNames+`
		FROM `+r.SQL+` AS v WHERE true ORDER BY v.n
		ON CONFLICT (tracker, (CASE WHEN single THEN '' ELSE jid END)) WHERE `+pending+` AND tracker IS NOT NULL
		DO NOTHING RETURNING jid`, r.Param, sqldb.Timestamp(tx.Now()))
	if err != nil {
		return nil, err
	}
	done := sqldb.Set(added)
	var refused []string
	for _, j := range jobs {
		if !done[j.JID] {
			refused = append(refused, j.JID)
		}
	}
	return refused, nil
}

// Change implements [jobqueue.QueueTx].
func (tx jobTx) Change(ctx context.Context, was jobqueue.Job, c jobqueue.Change) (bool, error) {
	set := "cancel = coalesce(cancel, $4)"
	args := []any{was.JID, string(was.State), was.Worker, sqldb.Timestamp(tx.Now())}
	switch c.To {
	case jobqueue.Waiting: // it waits from now on
		set = `state = 'waiting', submitted = $4, worker = NULL, started = NULL, startedmillis = NULL, finished = NULL,
			cancel = NULL, retry = NULL, result = NULL, retries = 0, interrupts = 0, progress = 0`
	case jobqueue.Cancelled:
		set = "state = 'cancelled', finished = $4, cancel = $4, retry = NULL, result = 'cancelled before it ran'"
	}
	n, err := tx.Exec(ctx, "UPDATE job SET "+set+" WHERE jid = $1 AND state = $2 AND coalesce(worker, '') = $3", args...)
	if err == nil && n > 0 && c.Note != "" {
		err = tx.insertLines(ctx, []exchange.Line{exchange.NewLine(was.JID, jobqueue.Info, c.Note)})
	}
	return n > 0, err
}
