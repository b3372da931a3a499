package periodic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/days"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Tasks manages the rows of periodic_task from Go, as anybody may with SQL. It
// is safe for concurrent use. Each method runs in its own transaction, unless
// [Tasks.In] returned the tasks.
//
// Tasks are validated before they are written: one that is not valid gives a
// [*TaskError]. A task that does not exist gives [ErrNotFound].
type Tasks struct {
	store  TaskStore
	queues Submitters
	tracer jobqueue.SendTracer // nil: no spans
}

// NewTasks returns the tasks of a database: NewTasks(db.Tasks()).
func NewTasks(store TaskStore) *Tasks { return &Tasks{store: store} }

// With returns the same tasks with the queues that are not nextrun's own, by their
// names: those of Config.Submitters. RunNow of a task that is not enabled, and
// Backfill, submit to them. Apply then refuses tasks of other sinks.
func (s *Tasks) With(queues Submitters) *Tasks { return &Tasks{s.store, queues, s.tracer} }

// Traced returns the same tasks, which make a span with a tracer for each job that they
// submit themselves: RunNow of a task that is not enabled, SubmitNext, and Backfill.
// Package ops/tracing has a tracer.
func (s *Tasks) Traced(tracer jobqueue.SendTracer) *Tasks { return &Tasks{s.store, s.queues, tracer} }

// In returns the same tasks inside the caller's transaction: what its methods do
// takes effect when that is committed. If one returns an error, roll the
// transaction back. Backfill, which waits for jobs, is refused there.
func (s *Tasks) In(tx jobqueue.DBTX) *Tasks { return &Tasks{inTx{s.store, tx}, s.queues, s.tracer} }

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

// read returns what fn reads in a transaction.
func read[T any](ctx context.Context, s *Tasks, fn func(TaskTx) (T, error)) (value T, err error) {
	err = s.store.View(ctx, func(tx TaskTx) error {
		value, err = fn(tx)
		return err
	})
	return value, err
}

// edit runs fn in a transaction with a task, whose row is locked.
func (s *Tasks) edit(ctx context.Context, id string, fn func(tx TaskTx, t Task) error) error {
	return s.store.Update(ctx, func(tx TaskTx) error {
		t, err := tx.Get(ctx, id, true)
		if err == nil {
			err = fn(tx, t)
		}
		return about(id, err)
	})
}

// Get returns a task.
func (s *Tasks) Get(ctx context.Context, id string) (Task, error) {
	t, err := read(ctx, s, func(tx TaskTx) (Task, error) { return tx.Get(ctx, id, false) })
	return t, about(id, err)
}

// List returns tasks in the order of their ids, without their args unless the
// filter asks for them.
func (s *Tasks) List(ctx context.Context, filter TaskFilter) ([]Task, error) {
	return read(ctx, s, func(tx TaskTx) ([]Task, error) { return tx.List(ctx, filter) })
}

// Ticks returns what became of ticks, the latest first.
func (s *Tasks) Ticks(ctx context.Context, filter TickFilter) ([]Tick, error) {
	service.SetDefault(&filter.Limit, DefaultTickLimit)
	return read(ctx, s, func(tx TaskTx) ([]Tick, error) { return tx.Ticks(ctx, filter) })
}

// Calendars returns the rows of all calendars, in the order of their names and days.
func (s *Tasks) Calendars(ctx context.Context) ([]days.Row, error) {
	return read(ctx, s, func(tx TaskTx) ([]days.Row, error) { return tx.Calendars(ctx) })
}

// Pending returns the job of a task that is not final, or nil if there is none. It
// returns a [*SinkError] for a queue that the program does not know; see
// [Tasks.With].
func (s *Tasks) Pending(ctx context.Context, id string) (*sink.Pending, error) {
	found, err := read(ctx, s, func(tx TaskTx) (*sink.Pending, error) {
		t, err := tx.Get(ctx, id, false)
		if err != nil {
			return nil, err
		}
		queue, ok := s.store.Queues(s.queues)[t.Sink]
		if !ok {
			return nil, &SinkError{Sink: t.Sink}
		}
		return pendingIn(ctx, tx, queue, id)
	})
	return found, about(id, err)
}

// pendingIn returns the job of a task in its queue that is not final; nil: there is none.
func pendingIn(ctx context.Context, tx TaskTx, queue Queue, id string) (*sink.Pending, error) {
	bare, _ := tx.Bare()
	pending, err := queue.Pending(ctx, bare, []string{id})
	if p, ok := pending[id]; ok && err == nil {
		return &p, nil
	}
	return nil, err
}

// Attempts asks the queue of a task's newest job that is not known to have ended how often it was
// tried and what its worker said, or returns nil: there is none, or its queue does not tell. It
// needs the queue; see [Tasks.With].
func (s *Tasks) Attempts(ctx context.Context, id string) (*sink.JobEnd, error) {
	found, err := read(ctx, s, func(tx TaskTx) (*sink.JobEnd, error) {
		queue, job, err := tx.Awaited(ctx, id)
		teller, tells := s.queues[queue].(sink.EndTeller)
		if err != nil || !tells {
			return nil, err
		}
		bare, _ := tx.Bare()
		ends, err := teller.Ends(ctx, bare, []sink.Open{job})
		if err != nil || len(ends) == 0 {
			return nil, err
		}
		return &ends[0], nil
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

// Enable enables a task. It is planned from then on: there is no catch-up for the time
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

// about adds the task's id to an error, unless it has it.
func about(id string, err error) error {
	var bad *TaskError
	if err == nil || errors.As(err, &bad) {
		return err
	}
	return fmt.Errorf("task %q: %w", id, err)
}
