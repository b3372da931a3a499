package periodic

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
)

// SubmitNext gives a task a tick of a due time of its own, beside those of its timer,
// such as after the end of another task's job. If that tick has a job or waits for one
// already, SubmitNext does nothing, so it can be repeated.
//
// While a job of the task is pending, its policy decides as for any tick: the tick is
// skipped, waits, or replaces the job. A task that is disabled or paused, or outside its
// Starts and Ends, skips it.
func (s *Tasks) SubmitNext(ctx context.Context, id string, due time.Time, reason string) error {
	tick := Tick{TaskID: id, Due: due, Reason: reason}
	err := s.store.Update(ctx, func(tx backend.TaskTx) error {
		t, err := tx.Get(ctx, id, true)
		if err != nil {
			return err
		}
		_, now := tx.Bare()
		if closed := notOpen(&t, now); closed != "" {
			skipped := tick
			skipped.Decision, skipped.Reason = Skipped, closed+": "+reason
			_, err = tx.Record(ctx, skipped)
			return err
		}
		_, err = s.submitTick(ctx, tx, t, tick)
		return err
	})
	var pending *PendingError
	var done *TickError
	switch {
	case errors.As(err, &done):
		return nil
	case errors.As(err, &pending):
		err = s.store.Update(ctx, func(tx backend.TaskTx) error { return s.overlap(ctx, tx, tick, pending) })
	}
	return about(id, err)
}

// notOpen says why a task takes no ticks now; empty: it does.
func notOpen(t *Task, now time.Time) string {
	switch {
	case !t.Enabled:
		return "the task is disabled"
	case t.Starts.After(now):
		return "the task has not started yet"
	case !t.Ends.IsZero() && !t.Ends.After(now):
		return "the task has ended"
	case t.Pause.At(now):
		return "the task is " + t.Pause.Text()
	}
	return ""
}

// overlap records a tick while a job of its task is pending.
func (s *Tasks) overlap(ctx context.Context, tx backend.TaskTx, tick Tick, in *PendingError) error {
	t, err := tx.Get(ctx, tick.TaskID, true)
	if err != nil {
		return err
	}
	tick.Decision, tick.Reason = Skipped, task.SkipReason(&in.Pending, in.now)
	if t.Queues() {
		tick.Decision, tick.Reason = Queued, task.WaitReason(&in.Pending, in.now)
	}
	if added, err := tx.Record(ctx, tick); err != nil || !added || t.Overlap != OverlapReplace {
		return err
	}
	bare, now := tx.Bare()
	_, err = s.store.Queues(s.queues)[t.Sink].Cancel(ctx, bare, map[string]string{in.Pending.JID: t.ID}, now)
	return err
}
