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
	"github.com/nextrun/nextrun/periodic/reasons"
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
	ids := make([]string, len(b.Plans))
	for i := range b.Plans {
		ids[i] = b.Plans[i].Task.ID
	}
	soft, cancel := context.WithTimeout(soft, splitBudget)
	defer cancel()
	_, err := service.InParts(soft, ids, cause, func(part []string) error { return w.some(hard, part) },
		func(id string, err error) error { return w.leaveOut(hard, id, "submit", err) })
	return err
}

// some reads and writes some tasks, in a transaction that does not wait long.
func (w *writer) some(hard context.Context, ids []string) error {
	b, err := w.batches.Read(hard, batch.Wanted{Limit: len(ids), Only: ids, Exclude: batch.Exclude{Sinks: w.sinks.held(), OnlySinks: w.sinks.usable()}})
	if b.Plans = slices.DeleteFunc(b.Plans, func(p periodic.Plan) bool { return p.Held && p.Cancel == "" }); err != nil || len(b.Plans) == 0 {
		return err
	}
	done, err := w.batches.Submit(hard, aloneWait, b, time.Now())
	if err == nil && len(done.Kept) > 0 {
		w.tell(b.Started, &done)
	}
	return err
}

// without writes the plans of a batch whose queues take their jobs now.
func (w *writer) without(soft, hard context.Context, b batch.Batch, later batch.LaterError) error {
	for id, why := range later {
		if why == "" {
			continue
		}
		if err := w.leaveOut(hard, id, "submit", errors.New(why)); err != nil {
			return err
		}
	}
	b.Plans = slices.DeleteFunc(slices.Clone(b.Plans), func(p periodic.Plan) bool { _, waits := later[p.Task.ID]; return waits })
	if len(b.Plans) == 0 {
		return nil
	}
	done, err := w.batches.Submit(hard, batch.LockTimeout, b, time.Now())
	return w.handle(soft, hard, result{batch: b, done: done, err: err})
}

// leaveOut leaves out a task that fails alone, and names it once. The error is one of the database.
func (l *loop) leaveOut(hard context.Context, id, doing string, cause error) error {
	later := batch.LaterError{}
	if errors.As(cause, &later) {
		if later[id] == "" {
			return nil // it waits for the end of a job
		}
		cause = errors.New(later[id])
	}
	if !l.isolatable(cause) {
		return cause
	}
	locked := l.store.Fault(cause) == service.FaultLock
	if first := l.failing.add(id, cause, locked, time.Now()); !first {
		return nil
	}
	l.observe(Event{Kind: EventAside, ID: id, Doing: doing, Err: cause})
	if !locked { // which is no problem of the task
		_ = l.role.update(hard, aloneWait, func(tx batch.Tx) error { return tx.SetProblem(hard, id, reasons.Unscheduled(cause)) })
	}
	return nil
}

// writeSuspects writes the plans of tasks that have failed before, one by one.
func (w *writer) writeSuspects(soft, hard context.Context) error {
	for _, id := range w.suspects {
		if soft.Err() != nil {
			return nil //nolint:nilerr // the scheduler stops
		}
		cause := w.some(hard, []string{id})
		if cause == nil {
			continue
		}
		if err := w.leaveOut(hard, id, "submit", cause); err != nil {
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
	ids, err := l.store.IDs(hard, w)
	if err != nil || len(ids) == 0 {
		return b, errors.Join(cause, err)
	}
	l.observe(Event{Kind: EventSplit, Doing: "read", Err: cause})
	read := func(some []string) error {
		w.Only, w.Limit = some, len(some)
		more, err := l.batches.Read(hard, w)
		b.Started, b.Now, b.Plans = more.Started, more.Now, append(b.Plans, more.Plans...)
		return err
	}
	_, err = service.InParts(soft, ids, cause, read, func(id string, err error) error { return l.leaveOut(hard, id, "read", err) })
	return b, err
}

// isolatable reports whether an error may lie in one of several rows.
func (l *loop) isolatable(err error) bool {
	return !errors.Is(err, leader.ErrLost) && l.store.Fault(err) != service.FaultDatabase
}
