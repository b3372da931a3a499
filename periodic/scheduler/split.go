package scheduler

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
)

// split writes the plans of a batch that has failed, in parts, unless a queue is to blame. Each part is read again: the failure
// may have taken long.
func (w *writer) split(soft, hard context.Context, b batch.Batch, cause error) error {
	var later batch.LaterError
	if errors.As(cause, &later) {
		return w.without(soft, hard, b, later)
	}
	if broke, err := w.suspectSink(hard, cause); broke || err != nil {
		return err
	}
	if len(b.Plans) > 1 {
		w.observe(Event{Kind: EventSplit, Doing: "submit", Err: cause})
	}
	rows := make([]batch.Row, len(b.Plans))
	for i := range b.Plans {
		rows[i] = batch.RowOf(b.Plans[i].Task)
	}
	soft, cancel := context.WithTimeout(soft, splitBudget)
	defer cancel()
	_, err := service.InParts(soft, rows, cause, func(part []batch.Row) error { return w.rewrite(hard, part) },
		func(row batch.Row, err error) error { return w.leaveOut(hard, row, "submit", err) })
	return err
}

// rewrite reads and writes some tasks, in a transaction that does not wait long.
func (w *writer) rewrite(hard context.Context, rows []batch.Row) error {
	b, err := w.batches.Read(hard, batch.Wanted{Scope: batch.Scope{Sinks: w.sinks.usable()}, Limit: len(rows), Only: rows})
	if b.Plans = slices.DeleteFunc(b.Plans, func(p periodic.Plan) bool { return p.Held && p.Cancel == "" }); err != nil || len(b.Plans) == 0 {
		return err
	}
	done, err := w.batches.Submit(hard, aloneWait, b)
	if err == nil && len(done.Kept) > 0 {
		w.tell(b.Started, &done)
	}
	return err
}

// without writes the plans of a batch whose queues take their jobs now.
func (w *writer) without(soft, hard context.Context, b batch.Batch, later batch.LaterError) error {
	plans := b.Plans
	b.Plans = nil
	for _, p := range plans {
		why, waits := later[p.Task.ID]
		if !waits {
			b.Plans = append(b.Plans, p)
		} else if why != "" {
			if err := w.leaveOut(hard, batch.RowOf(p.Task), "submit", errors.New(why)); err != nil {
				return err
			}
		}
	}
	if len(b.Plans) == 0 {
		return nil
	}
	done, err := w.batches.Submit(hard, batch.LockTimeout, b)
	return w.handle(soft, hard, result{batch: b, done: done, err: err})
}

// leaveOut leaves out a task that fails alone, and names it once. The error is one of the database.
func (l *loop) leaveOut(hard context.Context, row batch.Row, doing string, cause error) error {
	later := batch.LaterError{}
	if errors.As(cause, &later) {
		if later[row.ID] == "" {
			return nil // it waits for the end of a job
		}
		cause = errors.New(later[row.ID])
	}
	if !l.isolatable(cause) {
		return cause
	}
	locked := l.store.Fault(cause) == service.FaultLock
	if first := l.failing.add(row, cause, locked, time.Now()); !first {
		return nil
	}
	l.observe(Event{Kind: EventAside, ID: row.ID, Doing: doing, Err: cause})
	if !locked { // which is no problem of the task
		_ = l.batches.Update(hard, aloneWait, func(tx batch.Tx) error { return tx.SetProblem(hard, row.ID, periodic.UnscheduledPrefix+cause.Error()) })
	}
	return nil
}

// writeSuspects writes the plans of tasks that have failed before, one by one.
func (w *writer) writeSuspects(soft, hard context.Context) error {
	for _, row := range w.suspects {
		if soft.Err() != nil {
			return nil //nolint:nilerr // the scheduler stops
		}
		cause := w.rewrite(hard, []batch.Row{row})
		if cause == nil {
			continue
		}
		if err := w.leaveOut(hard, row, "submit", cause); err != nil {
			return err
		}
	}
	return nil
}

// readInParts reads tasks that could not be read together, unless a queue is to blame.
func (l *loop) readInParts(soft, hard context.Context, w batch.Wanted, cause error) (b batch.Batch, err error) {
	if broke, err := l.suspectSink(hard, cause); broke || err != nil {
		return b, err
	}
	rows, err := l.store.Rows(hard, w)
	if err != nil || len(rows) == 0 {
		return b, errors.Join(cause, err)
	}
	l.observe(Event{Kind: EventSplit, Doing: "read", Err: cause})
	read := func(some []batch.Row) error {
		w.Only, w.Limit = some, len(some)
		more, err := l.batches.Read(hard, w)
		b.Started, b.Now, b.Plans = more.Started, more.Now, append(b.Plans, more.Plans...)
		return err
	}
	_, err = service.InParts(soft, rows, cause, read, func(row batch.Row, err error) error { return l.leaveOut(hard, row, "read", err) })
	return b, err
}

// isolatable reports whether an error may lie in one of several rows.
func (l *loop) isolatable(err error) bool {
	return !errors.Is(err, leader.ErrLost) && l.store.Fault(err) != service.FaultDatabase
}
