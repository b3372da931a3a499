package periodic

import (
	"context"
	"errors"
	"fmt"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/internal/batch"
)

// submitTick submits the job of one tick, without a scheduler. A zero Due means
// now. It returns a [*PendingError] if a job of the task is pending, and a
// [*TickError] if the tick is queued or submitted already.
func (s *Tasks) submitTick(ctx context.Context, tx backend.TaskTx, t Task, tick Tick) (jid string, err error) {
	queue, ok := s.store.Queues(s.queues)[t.Sink]
	if !ok {
		return "", &SinkError{t.Sink}
	}
	bare, now := tx.Bare()
	if tick.Due.IsZero() {
		tick.Due = now
	}
	job := t.Job(jobqueue.NewID(), tick.Due, now)
	pendingError := func() error {
		pending, err := queue.Pending(ctx, bare, []string{t.ID})
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
	tick.TaskID, tick.Decision, tick.JID = t.ID, Submitted, job.JID
	if free, err := tx.Record(ctx, tick); err != nil || !free {
		if err == nil {
			err = &TickError{Due: tick.Due}
		}
		return "", err
	}
	refused, err := queue.Submit(ctx, bare, []jobqueue.Job{job})
	if err == nil && len(refused) > 0 {
		if refused[0].Reason != "" {
			err = errors.New(refused[0].Reason)
		} else if err = pendingError(); err == nil { // else another job came first
			err = errors.New(batch.TableRefused)
		}
	}
	return job.JID, err
}

// SinkError is returned for a task whose sink is a queue that the program does not
// know. See [Tasks.With].
type SinkError struct{ Sink Sink }

// Error names the sink.
func (e *SinkError) Error() string {
	return fmt.Sprintf("sink %q: this program has no queue of that name", e.Sink)
}
