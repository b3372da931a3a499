package store

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// byHand is the reason of a tick of a task that is not enabled.
const byHand = "run by hand; the task is not enabled"

// Run submits the job of a task that is not enabled itself: no scheduler
// claims such a task.
func (tx taskTx) Run(ctx context.Context, t periodic.Task) error {
	if t.Enabled {
		return tx.one(ctx, `UPDATE periodic_task SET nextrun = $2 WHERE id = $1`, t.ID, Timestamp(tx.now))
	}
	submitter, ok := schedulerStore{tx.db}.Submitters()[t.Sink]
	if !ok {
		return fmt.Errorf("sink %q has no submitter here; enable the task to run it", t.Sink)
	}
	job := t.Job(jobqueue.NewID(), tx.now, tx.now)
	pending, err := submitter.Pending(ctx, tx.tx, []string{t.ID})
	if err != nil {
		return tx.db.classify(err)
	}
	if p, ok := pending[t.ID]; ok && job.Single {
		return periodic.NewPendingError(p, tx.now)
	}
	if err := tx.one(ctx, `INSERT INTO periodic_tick (task_id, due, decision, reason, jid, decided)
			VALUES ($1, $2, $3, $4, $5, $2)`,
		t.ID, Timestamp(tx.now), string(periodic.Submitted), byHand, job.JID); err != nil {
		return err
	}
	refused, err := submitter.Submit(ctx, tx.tx, []jobqueue.Job{job})
	if err == nil && len(refused) > 0 {
		err = fmt.Errorf("%w: a job of the task was submitted at the same time", ErrBusy)
	}
	return tx.db.classify(err)
}
