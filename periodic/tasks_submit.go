package periodic

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/backend"
)

// submitTick submits the job of one tick, without a scheduler: of Due, or of now if
// that is zero. It returns a [*PendingError] if a job is in the way, and a
// [*TickError] if the tick waits or has its job.
func (s *Tasks) submitTick(ctx context.Context, tx backend.TaskTx, t Task, tick Tick) (jid string, err error) {
	submitter, ok := s.store.Submitters()[t.Sink]
	if !ok {
		return "", fmt.Errorf("sink %q has no submitter here", t.Sink)
	}
	bare, now := tx.Bare()
	if tick.Due.IsZero() {
		tick.Due = now
	}
	job := t.Job(jobqueue.NewID(), tick.Due, now)
	notPending := func() error {
		pending, err := submitter.Pending(ctx, bare, []string{t.ID})
		if p, ok := pending[t.ID]; err == nil && ok {
			err = &PendingError{p, now}
		}
		return err
	}
	if job.Single {
		if err := notPending(); err != nil {
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
		if err = notPending(); err == nil { // else somebody was faster
			err = fmt.Errorf("%s", tableRefused)
		}
	}
	return job.JID, err
}
