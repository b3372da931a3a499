package queue

import (
	"context"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

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

// Finished implements [jobqueue.JobEditor].
func (tx jobTx) Finished(ctx context.Context, f jobqueue.PruneFilter, after jobqueue.FinishedJob, limit int) ([]jobqueue.FinishedJob, error) {
	states, before, err := tx.selected(f)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		JID      string
		Finished sqldb.RowTime
	}
	condition, args := "", []any{states.Param, before, limit}
	if after != (jobqueue.FinishedJob{}) {
		condition, args = " AND (finished, jid) > ($4, $5)", append(args, sqldb.Timestamp(after.Finished), after.JID)
	}
	err = tx.Select(ctx, &rows, tx.fill("SELECT jid, finished FROM job WHERE "+prunable+condition+" ORDER BY finished, jid LIMIT $3",
		"{states}", states.SQL), args...)
	jobs := make([]jobqueue.FinishedJob, len(rows))
	for i, r := range rows {
		jobs[i] = jobqueue.FinishedJob{JID: r.JID, Finished: r.Finished.Time()}
	}
	return jobs, err
}

// Delete implements [jobqueue.JobEditor].
func (tx jobTx) Delete(ctx context.Context, f jobqueue.PruneFilter, jobs []jobqueue.FinishedJob) (int, error) {
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
	err = tx.Select(ctx, &free, tx.fill("SELECT jid FROM job WHERE "+prunable+" AND jid IN (SELECT v.value FROM {jids} AS v)"+tx.SQL().LockRows,
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
		if table == "job" {
			crashpoint.At("housekeeping/jobs")
		} else {
			crashpoint.At("housekeeping/log")
		}
	}
	return int(deleted), nil
}
