package scheduler

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
)

const (
	// splitBudget is how long the plans of a failed batch are written in parts. What is left is read again.
	splitBudget = time.Second
	// aloneWait is how long the transaction of a single row waits for a lock: less than PostgreSQL's deadlock_timeout.
	aloneWait = 20 * time.Millisecond
)

// split writes the plans of a batch that has failed, in parts, unless a queue is to blame. Each part is read again: the failure
// may have taken long.
func (w *writer) split(soft, hard context.Context, b batch.Batch, cause error) error {
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
	write := func(part []batch.Row) error {
		locked, err := w.rewrite(hard, part)
		w.backlog.locked = w.backlog.locked || locked
		return err
	}
	_, err := service.InParts(soft, rows, cause, write,
		func(row batch.Row, err error) error { return w.leaveOut(hard, row, "submit", err) })
	return err
}

// without writes the plans of a batch whose queues take their jobs now.
func (w *writer) without(soft, hard context.Context, b batch.Batch, later batch.LaterError) error {
	plans := b.Plans
	b.Plans = nil
	for _, p := range plans {
		if _, waits := later[p.Task.ID]; !waits {
			b.Plans = append(b.Plans, p)
		} else if err := w.leaveOut(hard, batch.RowOf(p.Task), "submit", later); err != nil {
			return err
		}
	}
	if len(b.Plans) == 0 {
		return nil
	}
	return w.begin(soft, hard, b)
}

// rewrite reads and writes some tasks, in a transaction that does not wait long. It reports whether some could not be written:
// others have locked their rows.
func (l *loop) rewrite(hard context.Context, rows []batch.Row) (locked bool, err error) {
	l.pulse.Goes()
	b, err := l.batches.Read(hard, batch.Wanted{Scope: batch.Scope{Sinks: l.usable()}, Limit: len(rows), Only: rows})
	if b.Plans = slices.DeleteFunc(b.Plans, writesNothing); err != nil || len(b.Plans) == 0 {
		return false, err
	}
	done, err := l.batches.Submit(hard, aloneWait, b)
	if err != nil {
		return false, err
	}
	l.note(&done)
	return len(done.Kept) < len(b.Plans), nil
}

// leaveOut leaves out a task that fails alone, and names it once. The error is one of the database.
func (l *loop) leaveOut(hard context.Context, row batch.Row, doing string, cause error) error {
	later := batch.LaterError{}
	if errors.As(cause, &later) {
		if later[row.ID] == "" { // it waits for the end of a job
			delete(l.failing, row.ID)
			l.watermark.reset()
			return nil
		}
		cause = errors.New(later[row.ID])
	}
	if !l.isolatable(cause) {
		return cause
	}
	least, most, locked := leastFailing, mostFailing, l.store.Fault(cause) == service.FaultLock
	if locked {
		least, most = leastRetry, mostRetry
	}
	if l.failing.add(row.ID, row.Version, cause, least, most) != nil {
		return nil //nolint:nilerr // the row is set aside already, and its cause was logged
	}
	l.observe(Event{Kind: EventAside, ID: row.ID, Doing: doing, Err: cause})
	if !locked { // which is no problem of the task
		_ = l.batches.Update(hard, aloneWait, func(tx batch.Tx) error { return tx.SetProblem(hard, row.ID, periodic.UnscheduledPrefix+cause.Error()) })
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
		if err == nil {
			b.Now, b.Plans = more.Now, append(b.Plans, more.Plans...)
		}
		return err
	}
	_, err = service.InParts(soft, rows, cause, read, func(row batch.Row, err error) error { return l.leaveOut(hard, row, "read", err) })
	return b, err
}

// isolatable reports whether an error may lie in one of several rows.
func (l *loop) isolatable(err error) bool {
	return !errors.Is(err, leader.ErrLost) && l.store.Fault(err) != service.FaultDatabase
}

// suspectSink looks, after a batch has failed, whether a queue is to blame: the one that its error names, or each, since their
// tables say which tasks wait. The error is one of the database.
func (l *loop) suspectSink(hard context.Context, cause error) (broke bool, err error) {
	if l.store.Fault(cause) == service.FaultRow {
		return false, nil
	}
	suspects := slices.Sorted(maps.Keys(l.batches.Queues))
	if named, is := errors.AsType[*batch.SinkError](cause); is {
		suspects = []periodic.Sink{named.Sink}
	}
	for _, sink := range suspects {
		broken, err := l.probe(hard, sink)
		if err != nil {
			return broke, err
		}
		broke = broke || broken
	}
	l.backlog.moved = l.backlog.moved || broke // the next batch is without its tasks
	return broke, nil
}

// probe checks whether a sink takes jobs at all. While it does not, its tasks wait.
func (l *loop) probe(hard context.Context, sink periodic.Sink) (broken bool, err error) {
	err = l.batches.Update(hard, aloneWait, func(tx batch.Tx) error { return l.batches.Queues[sink].Probe(hard, tx.DBTX()) })
	switch {
	case err == nil && l.broken[sink] != nil:
		delete(l.broken, sink)
		l.observe(Event{Kind: EventSink, Sink: sink})
	case err != nil && !l.isolatable(err):
		return false, err
	case err != nil:
		if before := l.broken.add(sink, "", err, leastRetry, mostRetry); before == nil || !alike(before, err) {
			l.observe(Event{Kind: EventSink, Sink: sink, Err: err})
		}
	}
	return err != nil, nil
}

// retry tries one queue or task again whose time has come.
func (l *loop) retry(_, hard context.Context) (pollIn time.Duration, err error) {
	if sink, known := l.broken.due(); known != nil {
		broken, err := l.probe(hard, sink)
		if broken || err != nil {
			return l.cfg.PollInterval, err
		}
		l.watermark.reset()
		return 0, nil
	}
	id, known := l.failing.due()
	row := batch.Row{ID: id, Version: known.version}
	switch locked, err := l.rewrite(hard, []batch.Row{row}); {
	case err != nil:
		return l.cfg.PollInterval, l.leaveOut(hard, row, "submit", err)
	case locked:
		_ = l.failing.add(id, known.version, known.err, leastRetry, mostRetry)
		return l.cfg.PollInterval, nil
	}
	delete(l.failing, id)
	l.watermark.reset()
	return 0, nil
}
