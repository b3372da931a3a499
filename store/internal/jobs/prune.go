package jobs

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// pruneBatch is how many jobs are deleted in one transaction.
const pruneBatch = 1000

// finishedJob is a final job that may be deleted. The zero value comes before all.
type finishedJob struct {
	JID      string
	Finished time.Time
}

// pruning deletes the jobs that a filter selects, page by page.
type pruning struct {
	filter       jobqueue.PruneFilter
	view, update func(context.Context, func(jobTx) error) error
	judge        func(error) isolate.Cause
}

// Prune implements [jobqueue.QueueStore].
func (s Store) Prune(ctx context.Context, filter jobqueue.PruneFilter) (int, error) {
	own := func(run func(context.Context, func(jobqueue.QueueTx) error) error) func(context.Context, func(jobTx) error) error {
		return func(ctx context.Context, fn func(jobTx) error) error {
			return run(ctx, func(tx jobqueue.QueueTx) error { return fn(tx.(jobTx)) })
		}
	}
	return pruning{filter, own(s.View), own(s.Update), s.Judge}.run(ctx)
}

// Prune implements [jobqueue.QueueTx]. After a failure nothing more can be tried in the transaction.
func (tx jobTx) Prune(ctx context.Context, filter jobqueue.PruneFilter) (int, error) {
	within := func(_ context.Context, fn func(jobTx) error) error { return fn(tx) }
	return pruning{filter, within, within, func(error) isolate.Cause { return isolate.Database }}.run(ctx)
}

func (p pruning) run(ctx context.Context) (int, error) {
	last := finishedJob{}
	return isolate.Sweep[finishedJob]{
		What: "jobs", Name: func(j finishedJob) string { return "job " + j.JID },
		Judge: p.judge,
		Page: func(ctx context.Context) (page []finishedJob, more bool, err error) {
			err = p.view(ctx, func(tx jobTx) error {
				page, err = tx.finished(ctx, p.filter, last, pruneBatch)
				return err
			})
			if more = len(page) == pruneBatch; more {
				end := page[len(page)-1]
				more, last = !end.Finished.Before(last.Finished), end // a time that cannot be read could lead back
			}
			return page, more, err
		},
		Delete: func(ctx context.Context, page []finishedJob) (n int, err error) {
			err = p.update(ctx, func(tx jobTx) error {
				n, err = tx.delete(ctx, p.filter, page)
				return err
			})
			return n, err
		},
	}.Run(ctx)
}

// prunable is the condition of jobs that a filter selects; $1 are its states, $2 is
// the time before which they finished.
const prunable = "finished IS NOT NULL AND finished <= $2 AND state IN (SELECT v.value FROM {states} AS v)"

// selected fills in the condition prunable.
func (tx jobTx) selected(f jobqueue.PruneFilter) (states sqldb.Records, before sqldb.Timestamp, err error) {
	list := f.States
	if len(list) == 0 {
		list = []jobqueue.State{jobqueue.Success, jobqueue.Failed, jobqueue.Cancelled}
	}
	names := make([]string, len(list))
	for i, state := range list {
		names[i] = string(state)
	}
	states, err = tx.Texts(1, names)
	return states, sqldb.Timestamp(tx.Now().Add(-f.OlderThan)), err
}

// finished lists the jobs that a filter selects, in the order of their ends, after one of them.
func (tx jobTx) finished(ctx context.Context, f jobqueue.PruneFilter, after finishedJob, limit int) ([]finishedJob, error) {
	states, before, err := tx.selected(f)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		JID      string
		Finished sqldb.RowTime
	}
	condition, args := "", []any{states.Param, before, limit}
	if after != (finishedJob{}) {
		condition, args = " AND (finished, jid) > ($4, $5)", append(args, sqldb.Timestamp(after.Finished), after.JID)
	}
	err = tx.Select(ctx, &rows, tx.fill("SELECT jid, finished FROM job WHERE "+prunable+condition+" ORDER BY finished, jid LIMIT $3",
		"{states}", states.SQL), args...)
	jobs := make([]finishedJob, len(rows))
	for i, r := range rows {
		jobs[i] = finishedJob{JID: r.JID, Finished: r.Finished.Time()}
	}
	return jobs, err
}

// delete removes jobs with their logs, all or none but those that the filter does not select any more or that
// somebody has locked. It returns how many.
func (tx jobTx) delete(ctx context.Context, f jobqueue.PruneFilter, jobs []finishedJob) (int, error) {
	jids := make([]string, len(jobs))
	for i, job := range jobs {
		jids[i] = job.JID
	}
	states, before, err := tx.selected(f)
	if err != nil {
		return 0, err
	}
	asked, err := tx.Texts(3, jids)
	if err != nil {
		return 0, err
	}
	var free []string
	err = tx.Select(ctx, &free, tx.fill("SELECT jid FROM job WHERE "+prunable+" AND jid IN (SELECT v.value FROM {jids} AS v)"+tx.SQL().ForUpdate,
		"{states}", states.SQL, "{jids}", asked.SQL), states.Param, before, asked.Param)
	if err != nil || len(free) == 0 {
		return 0, err
	}
	r, err := tx.Texts(1, free)
	if err != nil {
		return 0, err
	}
	deleted := int64(0)
	for _, table := range []string{"joblog", "job"} {
		deleted, err = tx.Exec(ctx, "DELETE FROM "+table+" WHERE jid IN (SELECT v.value FROM "+r.SQL+" AS v)", r.Param)
		if err != nil {
			return 0, err
		}
	}
	return int(deleted), nil
}
