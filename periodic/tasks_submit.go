package periodic

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/backend"
)

// submitTick submits the job of one tick, without a scheduler. A zero Due means
// now. It returns a [*PendingError] if a job of the task is pending, and a
// [*TickError] if the tick is queued or submitted already.
func (s *Tasks) submitTick(ctx context.Context, tx backend.TaskTx, t Task, tick Tick) (jid string, err error) {
	submitter, ok := s.store.Submitters()[t.Sink]
	if !ok {
		return "", fmt.Errorf("sink %q: this program has no submitter for it", t.Sink)
	}
	bare, now := tx.Bare()
	if tick.Due.IsZero() {
		tick.Due = now
	}
	job := t.Job(jobqueue.NewID(), tick.Due, now)
	pendingError := func() error {
		pending, err := submitter.Pending(ctx, bare, []string{t.ID})
		if p, ok := pending[t.ID]; err == nil && ok {
			err = &PendingError{p, now}
		}
		return err
	}
	if job.Single {
		if err := pendingError(); err != nil {
			return "", err
		}
	}
	tick.TaskID, tick.JID = t.ID, job.JID
	if free, err := tx.RecordSubmitted(ctx, tick); err != nil || !free {
		if err == nil {
			err = &TickError{Due: tick.Due}
		}
		return "", err
	}
	refused, err := submitter.Submit(ctx, bare, []jobqueue.Job{job})
	if err == nil && len(refused) > 0 {
		if err = pendingError(); err == nil { // else another job came first
			err = fmt.Errorf("%s", tableRefused)
		}
	}
	return job.JID, err
}
