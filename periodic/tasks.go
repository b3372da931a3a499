package periodic

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Tasks manages the rows of periodic_task from Go, as anybody may with SQL. It
// is safe for concurrent use. Each method runs in its own transaction, unless
// [Tasks.In] returned the tasks.
//
// Tasks are validated before they are written: one that is not valid gives a
// [*TaskError]. A task that does not exist gives [ErrNotFound].
type Tasks struct {
	Calendars *Calendars
	skips

	queues Submitters
	tracer jobqueue.SendTracer // nil: no spans
}

// NewTasks returns the tasks of a database: NewTasks(db.Tasks()).
func NewTasks(store TaskStore) *Tasks {
	return &Tasks{Calendars: &Calendars{store}, skips: skips{store}}
}

// With returns the same tasks with the queues that are not nextrun's own, by their
// names: those of Config.Submitters. RunNow of a task that is not enabled, and
// Backfill, submit to them. Apply then refuses tasks of other sinks.
func (s *Tasks) With(queues Submitters) *Tasks {
	return &Tasks{s.Calendars, s.skips, queues, s.tracer}
}

// Traced returns the same tasks, which make a span with a tracer for each job that they
// submit themselves: RunNow of a task that is not enabled, SubmitNext, and Backfill.
// Package ops/tracing has a tracer.
func (s *Tasks) Traced(tracer jobqueue.SendTracer) *Tasks {
	return &Tasks{s.Calendars, s.skips, s.queues, tracer}
}

// In returns the same tasks inside the caller's transaction: what its methods do
// takes effect when that is committed. If one returns an error, roll the
// transaction back. Backfill, which waits for jobs, is refused there.
func (s *Tasks) In(tx jobqueue.DBTX) *Tasks {
	return NewTasks(inTx{s.store, tx}).With(s.queues).Traced(s.tracer)
}

// inTx is a task store inside the caller's transaction.
type inTx struct {
	TaskStore
	tx jobqueue.DBTX
}

func (s inTx) Update(ctx context.Context, fn func(TaskTx) error) error {
	joined, err := s.Join(ctx, s.tx)
	if err != nil {
		return err
	}
	return fn(joined)
}

func (s inTx) View(ctx context.Context, fn func(TaskTx) error) error {
	return s.Update(ctx, fn)
}

// NewTask returns an enabled task with the defaults of the table.
func NewTask(id, task, timer string) Task {
	return Task{
		ID: id, Enabled: true, Task: task, Timer: timer,
		Group: "default", Args: "{}", Submitter: "nextrun",
		Overlap: OverlapSkip, Catchup: CatchupOne, Grace: time.Minute, Sink: SinkJob,
	}
}

// Get returns a task.
func (s *Tasks) Get(ctx context.Context, id string) (Task, error) {
	var t Task
	err := s.store.View(ctx, func(tx TaskTx) (err error) {
		t, err = tx.Get(ctx, id, false)
		return about(id, err)
	})
	return t, err
}

// List returns tasks in the order of their ids, without their args unless the
// filter asks for them.
func (s *Tasks) List(ctx context.Context, filter TaskFilter) ([]Task, error) {
	var list []Task
	err := s.store.View(ctx, func(tx TaskTx) (err error) {
		list, err = tx.List(ctx, filter)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	return list, nil
}

// Ticks returns what became of ticks, the latest first.
func (s *Tasks) Ticks(ctx context.Context, filter TickFilter) ([]Tick, error) {
	if filter.Limit == 0 {
		filter.Limit = DefaultTickLimit
	}
	var list []Tick
	err := s.store.View(ctx, func(tx TaskTx) (err error) {
		list, err = tx.Ticks(ctx, filter)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list ticks: %w", err)
	}
	return list, nil
}

// Pending returns the job of a task that is not final, or nil if there is none. It
// returns a [*SinkError] for a queue that the program does not know; see
// [Tasks.With].
func (s *Tasks) Pending(ctx context.Context, id string) (*sink.Pending, error) {
	var found *sink.Pending
	err := s.store.View(ctx, func(tx TaskTx) error {
		t, err := tx.Get(ctx, id, false)
		if err != nil {
			return err
		}
		queue, ok := s.store.Queues(s.queues)[t.Sink]
		if !ok {
			return &SinkError{Sink: t.Sink}
		}
		bare, _ := tx.Bare()
		pending, err := queue.Pending(ctx, bare, []string{id})
		if p, ok := pending[id]; ok {
			found = &p
		}
		return err
	})
	return found, about(id, err)
}

// Add adds a task; start from [NewTask]. A NextRun is honoured as if it were
// set by hand; the zero time leaves the plan to the scheduler. Worker, Marked,
// Due, Problem and Created are not written. It returns a [*TaskError], or
// [ErrDuplicate] if there is a task of that id.
func (s *Tasks) Add(ctx context.Context, t Task) error {
	if err := t.Validate(); err != nil {
		return err
	}
	return s.store.Update(ctx, func(tx TaskTx) error {
		if err := checkDaysIn(ctx, tx, &t); err != nil {
			return err
		}
		return about(t.ID, tx.Add(ctx, t))
	})
}

// Update changes a task: edit gets the locked task and changes it. If edit returns
// an error, nothing changes. Only the columns that users
// own are written: not ID, NextRun, Created, Worker, Marked, Due and Problem.
func (s *Tasks) Update(ctx context.Context, id string, edit func(*Task) error) error {
	return s.store.Update(ctx, func(tx TaskTx) error { return update(ctx, tx, id, edit) })
}

func update(ctx context.Context, tx TaskTx, id string, edit func(*Task) error) error {
	t, err := tx.Get(ctx, id, true)
	if err != nil {
		return about(id, err)
	}
	args := t.Args
	if err := edit(&t); err != nil {
		return err
	}
	if err := checkDaysIn(ctx, tx, &t); err != nil {
		return err
	}
	t.ID, t.NextRun = id, time.Time{}
	rule := argsAny
	if t.Args != args {
		rule = argsJSON
	}
	if err := t.validateArgs(rule); err != nil {
		return err
	}
	return about(id, tx.Save(ctx, t))
}

// Enable enables a task. It is planned anew: there is no catch-up for the time
// while it was disabled.
func (s *Tasks) Enable(ctx context.Context, id string) error {
	return s.store.Update(ctx, func(tx TaskTx) error { return about(id, tx.Enable(ctx, id, true)) })
}

// Disable disables a task: it has no ticks until it is enabled. Jobs that were
// submitted before are not affected.
func (s *Tasks) Disable(ctx context.Context, id string) error {
	return s.store.Update(ctx, func(tx TaskTx) error { return about(id, tx.Enable(ctx, id, false)) })
}

// Delete deletes a task. Its jobs and the record of its ticks stay.
func (s *Tasks) Delete(ctx context.Context, id string) error {
	return s.store.Update(ctx, func(tx TaskTx) error { return about(id, tx.Delete(ctx, id)) })
}

// RunNow submits a task's job at once, as a tick whose due is the database's now, also for a task that is disabled or
// paused. The timer goes on as before. It returns a [*PendingError] if the task must not overlap and a job of it is
// not final.
func (s *Tasks) RunNow(ctx context.Context, id string) error {
	return s.store.Update(ctx, func(tx TaskTx) error {
		t, err := tx.Get(ctx, id, true)
		if err == nil {
			_, err = s.submitTick(ctx, tx, t, Tick{Cause: CauseByHand})
		}
		return about(id, err)
	})
}

// about adds the task's id to an error.
func about(id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("task %q: %w", id, err)
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

// tickError is the error for a tick that is recorded already.
type tickError struct{ Due time.Time }

// Error names the tick.
func (e *tickError) Error() string {
	return fmt.Sprintf("the tick of %s has its job already", e.Due.UTC().Format("2006-01-02 15:04:05"))
}
