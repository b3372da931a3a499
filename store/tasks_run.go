package store

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

func (tx taskTx) Run(ctx context.Context, id string) error {
	return tx.one(ctx, `UPDATE periodic_task SET nextrun = $2 WHERE id = $1`, id, Timestamp(tx.now))
}

func (tx taskTx) Submit(ctx context.Context, t periodic.Task, tick periodic.Tick) (jid string, err error) {
	submitter, ok := schedulerStore{tx.db}.Submitters()[t.Sink]
	if !ok {
		return "", fmt.Errorf("sink %q has no submitter here", t.Sink)
	}
	if tick.Due.IsZero() {
		tick.Due = tx.now
	}
	job := t.Job(jobqueue.NewID(), tick.Due, tx.now)
	if job.Single {
		pending, err := submitter.Pending(ctx, tx.tx, []string{t.ID})
		if err != nil {
			return "", err
		}
		if p, ok := pending[t.ID]; ok {
			return "", periodic.NewPendingError(p, tx.now)
		}
	}
	if err := tx.recordSubmitted(ctx, t.ID, job.JID, tick); err != nil {
		return "", err
	}
	refused, err := submitter.Submit(ctx, tx.tx, []jobqueue.Job{job})
	if err == nil && len(refused) > 0 {
		err = fmt.Errorf("%w: a job of the task was submitted at the same time", ErrBusy)
	}
	return job.JID, err
}

// recordSubmitted records a tick as submitted, also if it was left out before.
// A row of several missed ticks begins at the following one then. A scheduler
// that has the task in hand has to decide anew: it did not know of this tick.
func (tx taskTx) recordSubmitted(ctx context.Context, id, jid string, tick periodic.Tick) error {
	if _, err := tx.exec(ctx, `UPDATE periodic_task SET worker = NULL, marked = NULL
		WHERE id = $1 AND worker IS NOT NULL`, id); err != nil {
		return err
	}
	if !tick.Until.IsZero() {
		_, err := tx.exec(ctx, `UPDATE periodic_tick SET due = $3, missed = CASE WHEN missed > 0 THEN missed - 1 ELSE missed END
			WHERE task_id = $1 AND due = $2 AND decision = 'missed' AND until >= $3`,
			id, Timestamp(tick.Due), Timestamp(tick.Until))
		if err != nil {
			return err
		}
	}
	n, err := tx.exec(ctx, `INSERT INTO periodic_tick (task_id, due, decision, reason, jid, decided)
		VALUES ($1, $2, 'submitted', $3, $4, $5)
		ON CONFLICT (task_id, due) DO UPDATE SET decision = excluded.decision, reason = excluded.reason,
			jid = excluded.jid, decided = excluded.decided, missed = 0, until = NULL, worker = NULL
		WHERE periodic_tick.decision IN ('skipped', 'late', 'missed')`,
		id, Timestamp(tick.Due), tick.Reason, jid, Timestamp(tx.now))
	if err == nil && n == 0 {
		return &periodic.TickError{Due: tick.Due}
	}
	return err
}
