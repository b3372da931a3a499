package periodic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// submitTick submits the job of one tick, without a scheduler. A zero Due means
// now. It returns a [*PendingError] if a job of the task is pending, and a
// *tickError if the tick is recorded already.
func (s *Tasks) submitTick(ctx context.Context, tx TaskTx, t Task, tick Tick) (jid string, err error) {
	queue, ok := s.store.Queues(s.queues)[t.Sink]
	if !ok {
		return "", &SinkError{Sink: t.Sink}
	}
	bare, now := tx.Bare()
	if tick.Due.IsZero() {
		tick.Due = now
	}
	job := t.Job(t.JobIDs(queue)(tick.Due), tick.Due, now)
	pendingError := func() error {
		pending, err := queue.Pending(ctx, bare, []string{t.ID})
		if p, ok := pending[t.ID]; err == nil && ok {
			err = &PendingError{p}
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
			err = &tickError{Due: tick.Due}
		}
		return "", err
	}
	job.Traceparent = traceparent.Of(ctx)
	jobs := []jobqueue.Job{job}
	if s.tracer != nil {
		sent, end := s.tracer.Send(ctx, string(t.Sink), jobs)
		jobs[0].Traceparent = traceparent.Clean(sent)
		defer func() { end(err) }()
	}
	refused, err := queue.Submit(ctx, bare, jobs)
	if err == nil && len(refused) > 0 {
		if refused[0].Refused != "" {
			err = errors.New(refused[0].Refused)
		} else if err = pendingError(); err == nil { // else another job came first
			err = errors.New(TableRefused)
		}
	}
	return job.JID, err
}

// Retry puts a job that failed or was cancelled back into its queue, which is not nextrun's own; jid is the
// [Tick.JID] of its tick. It returns store.ErrNotFound if no tick has it, a [*PendingError] if another job of
// the task is pending, and an error if the queue cannot put jobs back; [Tasks.RunNow] runs the task anew.
func (s *Tasks) Retry(ctx context.Context, jid string) error {
	err := s.store.Update(ctx, func(tx TaskTx) error {
		tick, err := endedTick(ctx, tx, jid)
		if err != nil {
			return err
		}
		t, err := tx.Get(ctx, tick.TaskID, true)
		if err == nil {
			err = putBack(ctx, tx, s.store.Queues(s.queues)[t.Sink], s.queues[t.Sink], t, tick)
		}
		return about(tick.TaskID, err)
	})
	if err != nil {
		err = fmt.Errorf("retry job %s: %w", jid, err)
	}
	return err
}

// putBack puts the job of a tick back into the queue of its task, which a submitter feeds.
func putBack(ctx context.Context, tx TaskTx, queue Queue, feeds sink.Submitter, t Task, tick Tick) error {
	retrier, _ := feeds.(sink.Retrier)
	back, ok := queue.(interface {
		PutBack(ctx context.Context, tx jobqueue.DBTX, job jobqueue.Job, ended time.Time) (bool, error)
	})
	switch {
	case queue == nil:
		return &SinkError{Sink: t.Sink}
	case !ok || retrier == nil || !retrier.Retries():
		return fmt.Errorf("the queue %q cannot put a job back; to run the task anew: nextrun task run %s", t.Sink, t.ID)
	}
	bare, now := tx.Bare()
	job := t.Job(tick.JID, tick.Due, now)
	if job.Single {
		pending, err := queue.Pending(ctx, bare, []string{t.ID})
		if p, ok := pending[t.ID]; err == nil && ok {
			err = &PendingError{p}
		}
		if err != nil {
			return err
		}
	}
	done, err := back.PutBack(ctx, bare, job, tick.Finished)
	if err == nil && !done {
		err = fmt.Errorf("the queue %q does not have it any more, or somebody has put it back; to run the task anew: nextrun task run %s", t.Sink, t.ID)
	}
	if err != nil {
		return err
	}
	return tx.Reopen(ctx, tick)
}

// endedTick reads the tick of a job that failed or was cancelled in another queue.
func endedTick(ctx context.Context, tx TaskTx, jid string) (Tick, error) {
	ticks, err := tx.Ticks(ctx, TickFilter{JID: jid, Limit: 1})
	switch {
	case err != nil:
		return Tick{}, err
	case jid == "" || len(ticks) == 0:
		return Tick{}, ErrNotFound
	}
	k := ticks[0]
	switch k.Ended {
	case sink.EndFailed, sink.EndCancelled:
		return k, nil
	case "":
		return k, jobqueue.ErrNotFinal
	}
	return k, fmt.Errorf("it ended as %s; only one that failed or was cancelled can be put back", k.Ended)
}

// SinkError is returned for a task whose sink is a queue that the program does not
// know. See [Tasks.With].
type SinkError struct {
	Sink  Sink
	Known []Sink // that the program has; nil: not said
}

// Error names the sinks.
func (e *SinkError) Error() string {
	text := fmt.Sprintf("sink %q: this program has no queue of that name", e.Sink)
	if e.Known != nil {
		text += fmt.Sprintf(", only %q", e.Known)
	}
	return text
}

// elsewhere finds the tasks whose sink is none of these queues.
func (a *Apply) elsewhere(queues map[Sink]Queue) (ids []string, err error) {
	for i := range a.Tasks {
		if t := &a.Tasks[i]; queues[t.Sink] == nil && t.Sink.Valid() {
			ids = append(ids, t.ID)
			err = errors.Join(err, about(t.ID, &SinkError{t.Sink, slices.Sorted(maps.Keys(queues))}))
		}
	}
	return ids, err
}

// SubmitNext gives a task a tick of a due time of its own, beside those of its timer,
// such as after the end of another task's job. If that tick is recorded already, SubmitNext does nothing,
// so it can be repeated.
//
// While a job of the task is pending, its policy decides as for any tick: the tick is
// skipped; or it waits, or replaces the job, as a nextrun that was set by hand does. A task that is disabled or paused, or outside its
// Starts and Ends, skips it.
func (s *Tasks) SubmitNext(ctx context.Context, id string, due time.Time, reason string) error {
	tick := Tick{TaskID: id, Due: due, Cause: CauseHook, Reason: reason}
	err := s.store.Update(ctx, func(tx TaskTx) error {
		t, err := tx.Get(ctx, id, true)
		if err != nil {
			return err
		}
		_, now := tx.Bare()
		if closed := t.closed(now); closed != "" {
			skipped := tick
			skipped.Decision, skipped.Cause = Skipped, closed
			_, err = tx.Record(ctx, skipped)
			return err
		}
		_, err = s.submitTick(ctx, tx, t, tick)
		return err
	})
	var pending *PendingError
	var done *tickError
	switch {
	case err == nil:
	case errors.As(err, &done):
		return nil
	case errors.As(err, &pending):
		err = s.store.Update(ctx, func(tx TaskTx) error { return overlap(ctx, tx, tick) })
	}
	return about(id, err)
}

// closed is why a task takes no ticks now; empty: it does.
func (t *Task) closed(now time.Time) Cause {
	switch {
	case !t.Enabled || t.Starts.After(now) || !t.Ends.IsZero() && !t.Ends.After(now):
		return CauseClosed
	case t.Pause.At(now):
		return CausePaused
	}
	return ""
}

// overlap deals with a tick while a job of its task is pending.
func overlap(ctx context.Context, tx TaskTx, tick Tick) error {
	t, err := tx.Get(ctx, tick.TaskID, true)
	switch {
	case err != nil:
		return err
	case t.Queues():
		return tx.RunAt(ctx, tick.TaskID, tick.Due)
	}
	tick.Decision, tick.Cause = Skipped, CauseOverlap
	_, err = tx.Record(ctx, tick)
	return err
}
