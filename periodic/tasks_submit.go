package periodic

import (
	"cmp"
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

// RunNow submits a task's job at once, as a tick whose due is the database's now, also for a task that is disabled or
// paused. The timer goes on as before. It returns a [*PendingError] if the task must not overlap and a job of it is
// not final.
func (s *Tasks) RunNow(ctx context.Context, id string) error {
	return s.edit(ctx, id, func(tx TaskTx, t Task) error {
		_, err := s.submitTick(ctx, tx, t, Tick{Cause: CauseByHand})
		return err
	})
}

// PendingError is returned by [Tasks.RunNow] for a task that must not overlap, if
// a job of it is in the way.
type PendingError struct {
	Pending sink.Pending
}

// Error names the job.
func (e *PendingError) Error() string {
	return fmt.Sprintf("its job %s is still %s; wait for its end, or cancel it", e.Pending.JID, e.Pending.State.Word())
}

// errHasJob says that a tick is recorded already.
var errHasJob = errors.New("the tick has its job already")

// submitTick submits the job of one tick, without a scheduler. A zero Due means
// now. It returns a [*PendingError] if a job of the task is pending, and
// errHasJob if the tick is recorded already. An error with a jid comes after the record of the tick.
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
	if err := inTheWay(ctx, tx, queue, job); err != nil {
		return "", err
	}
	tick.TaskID, tick.Decision, tick.JID = t.ID, Submitted, job.JID
	if free, err := tx.Record(ctx, tick); err != nil || !free {
		return "", cmp.Or(err, errHasJob)
	}
	job.Traceparent = traceparent.Of(ctx)
	jobs := []jobqueue.Job{job}
	if s.tracer != nil {
		sent, end := s.tracer.Send(ctx, string(t.Sink), jobs)
		jobs[0].Traceparent = traceparent.Clean(sent)
		defer func() { end(err) }()
	}
	refused, err := queue.Submit(ctx, bare, jobs)
	switch {
	case err != nil || len(refused) == 0:
	case refused[0].Refused != "":
		err = errors.New(refused[0].Refused)
	default:
		if err = inTheWay(ctx, tx, queue, job); err == nil { // else another job came first
			err = errors.New(TableRefused)
		}
	}
	return job.JID, err
}

// inTheWay returns a [*PendingError] if a job of the task of a single one is not final.
func inTheWay(ctx context.Context, tx TaskTx, queue Queue, job jobqueue.Job) error {
	if !job.Single {
		return nil
	}
	pending, err := pendingIn(ctx, tx, queue, job.Tracker)
	if pending != nil {
		err = &PendingError{*pending}
	}
	return err
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

// SubmitNext gives a task a tick beside those of its timer, such as after the end of
// another task's job. If that tick is recorded already, SubmitNext does nothing,
// so it can be repeated.
//
// While a job of the task is pending, its policy decides as for any tick: the tick is
// skipped; or it waits, or replaces the job, as a nextrun that was set by hand does. If something else waits already, or somebody has set
// nextrun, that one stands for it, and the tick is skipped. A task that is disabled or paused, or outside its
// Starts and Ends, skips it.
func (s *Tasks) SubmitNext(ctx context.Context, id string, due time.Time, reason string) error {
	tick := Tick{TaskID: id, Due: due, Cause: CauseHook, Reason: reason}
	unlessKnown := func(do func(tx TaskTx, t Task, now time.Time) error) error {
		return s.edit(ctx, id, func(tx TaskTx, t Task) error {
			known, err := isRecorded(ctx, tx, id, due)
			if known || err != nil {
				return err
			}
			_, now := tx.Bare()
			return do(tx, t, now)
		})
	}
	jid := ""
	err := unlessKnown(func(tx TaskTx, t Task, now time.Time) (err error) {
		if closed := t.closed(now); closed != "" {
			return skipNow(ctx, tx, tick, closed)
		}
		jid, err = s.submitTick(ctx, tx, t, tick)
		return err
	})
	_, inside := s.store.(inTx)
	if pending := new(PendingError); !errors.As(err, &pending) || inside && jid != "" { // only the caller can undo the record
		return err
	}
	return unlessKnown(func(tx TaskTx, t Task, now time.Time) error { // what the transaction has written is undone
		switch {
		case t.Queues() && t.NextRun.Equal(due): // it waits already
			return nil
		case t.Queues() && t.free(now):
			return tx.RunAt(ctx, id, due)
		}
		return skipNow(ctx, tx, tick, CauseOverlap)
	})
}

// free reports whether no tick waits for its time or its turn, so that NextRun can be set without a loss.
func (t *Task) free(now time.Time) bool {
	if timer, err := t.Schedule(); err != nil {
		return false
	} else if t.Unplanned() {
		return t.Decide(timer, Facts{Now: now}, nil).Due.After(now)
	}
	return t.Due.After(now) || !t.NextRun.Before(Never)
}

// isRecorded reports whether a tick is.
func isRecorded(ctx context.Context, tx TaskTx, id string, due time.Time) (bool, error) {
	ticks, err := tx.Ticks(ctx, TickFilter{TaskID: id, DueFrom: due, DueTo: due.Add(time.Microsecond), Limit: 1})
	return len(ticks) > 0 && ticks[0].Due.Equal(due), err
}

// skipNow records a tick as skipped.
func skipNow(ctx context.Context, tx TaskTx, tick Tick, cause Cause) error {
	tick.Decision, tick.Cause = Skipped, cause
	_, err := tx.Record(ctx, tick)
	return err
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
