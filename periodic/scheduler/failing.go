package scheduler

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/internal/leader"
	"github.com/nextrun/nextrun/internal/reasons"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
)

// A statement that writes many rows fails for all of them when one cannot be written: a constraint refuses it,
// a trigger raises, somebody else holds a lock that it needs. The rows are then written in parts, and one by one
// where a part fails. A row that fails alone is left out, and tried again alone, ever more rarely.

const (
	// smallPart is how many plans of a failed batch are written together.
	smallPart = 50
	// splitBudget is how long the plans of a failed batch are written in parts. What is left is read again.
	splitBudget = time.Second
	// mostInARow is how many rows may fail one after the other. Then the cause may lie elsewhere: the rest is read again, after a
	// pause if none could be written.
	mostInARow = 20
	// aloneWait is how long the transaction of a single row waits for a lock: less than PostgreSQL's deadlock_timeout.
	aloneWait = 20 * time.Millisecond
)

// failing are the tasks that fail alone, by their ids. The loop owns it.
type failing map[string]*failure

type failure struct {
	version string // of the row, as first seen after the failure; empty: not yet
	err     error
	again   time.Time     // when it is tried again
	pause   time.Duration // before that
	trying  bool
}

// How long a task that fails is left out: twice as long each time. What waits for a lock is likely to work again soon.
const leastFailing, mostFailing = time.Second, 2 * time.Minute

// add leaves a task out. It reports whether that is new.
func (f failing) add(id string, err error, locked bool, now time.Time) (first bool) {
	least, most := leastFailing, mostFailing
	if locked {
		least, most = leastRetry, mostRetry
	}
	known := f[id]
	if first = known == nil; first {
		known = &failure{}
		f[id] = known
	}
	known.err, known.trying = err, false
	known.pause = min(max(2*known.pause, least), most)
	known.again = now.Add(known.pause)
	return first
}

func (f failing) knows(id string) bool { return f[id] != nil }

// release has batches take a task again.
func (f failing) release(id string) { delete(f, id) }

// why is why a task is left out; empty: it is not.
func (f failing) why(id string) string {
	if known := f[id]; known != nil {
		return known.err.Error()
	}
	return ""
}

// leftOut are the tasks that are not to be tried now.
func (f failing) leftOut() (ids []string) {
	for id, known := range f {
		if !known.trying {
			ids = append(ids, id)
		}
	}
	return ids
}

// next is when to try one again; zero: none is left out.
func (f failing) next() (next time.Time) {
	for _, known := range f {
		if !known.trying && (next.IsZero() || known.again.Before(next)) {
			next = known.again
		}
	}
	return next
}

// try has the next round try those whose time has come.
func (f failing) try(now time.Time) {
	for _, known := range f {
		known.trying = known.trying || !known.again.After(now)
	}
}

// tried notes that a round has ended: those that it could not write for a lock are tried again.
func (f failing) tried(now time.Time) {
	for id, known := range f {
		if known.trying {
			f.add(id, known.err, true, now)
		}
	}
}

// idle notes that nothing is due but what is left out: those that were to be tried again are not due any more.
func (f failing) idle() {
	maps.DeleteFunc(f, func(_ string, known *failure) bool { return known.trying })
}

// compare releases the tasks whose row was edited since they were left out, and
// those that are gone. It reports whether there were any.
func (f failing) compare(versions map[string]string) (released bool) {
	for id, known := range f {
		version, exists := versions[id]
		switch {
		case !exists && !known.trying, exists && known.version != "" && known.version != version:
			f.release(id)
			released = true
		case exists:
			known.version = version
		}
	}
	return released
}

// text is the error of one of the tasks; empty if none fails but for a lock.
func (f failing) text(isLock func(error) bool) string {
	for _, id := range slices.Sorted(maps.Keys(f)) {
		if known := f[id]; !isLock(known.err) {
			return known.err.Error()
		}
	}
	return ""
}

// retryFailing has the next poll look at tasks that were left out.
func (l *loop) retryFailing(_, _ context.Context) error {
	l.failing.try(time.Now())
	l.watermark.reset()
	l.pollNow()
	return nil
}

// split writes the plans of a batch that has failed, in parts, unless a queue is to blame. Each part is read again: the failure
// may have taken long.
func (w *writer) split(soft, hard context.Context, b batch.Batch, cause error) error {
	var later batch.LaterError
	if errors.As(cause, &later) {
		return w.without(soft, hard, b, later)
	}
	if broke, err := w.suspectSinks(hard, cause); broke || err != nil {
		return err
	}
	if len(b.Plans) == 1 {
		return w.leaveOut(hard, b.Plans[0].Task.ID, "submit", cause)
	}
	w.observe(Event{Kind: EventSplit, Doing: "submit", Err: cause})
	ids := make([]string, len(b.Plans))
	for i := range b.Plans {
		ids[i] = b.Plans[i].Task.ID
	}
	end, inARow := time.Now().Add(splitBudget), 0
	for part := range slices.Chunk(ids, smallPart) {
		if soft.Err() != nil || time.Now().After(end) {
			break
		}
		if err := w.some(hard, part); err == nil {
			inARow = 0
			continue
		} else if !w.isolatable(err) {
			return err
		}
		for i := range part {
			err := w.some(hard, part[i:i+1])
			if inARow++; err == nil {
				inARow = 0
			} else if err = w.leaveOut(hard, part[i], "submit", err); err != nil || inARow == mostInARow {
				return err
			}
		}
	}
	return nil
}

// some reads and writes some tasks, in a transaction that does not wait long.
func (w *writer) some(hard context.Context, ids []string) error {
	b, err := w.batches.Read(hard, taskdb.Wanted{Limit: len(ids), Only: ids, Exclude: taskdb.Exclude{Sinks: w.sinks.held(), OnlySinks: w.sinks.usable()}})
	if b.Plans = slices.DeleteFunc(b.Plans, func(p decide.Plan) bool { return p.Held && p.Cancel == "" }); err != nil || len(b.Plans) == 0 {
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
	b.Plans = slices.DeleteFunc(slices.Clone(b.Plans), func(p decide.Plan) bool { _, waits := later[p.Task.ID]; return waits })
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
	locked := l.store.Fault(cause) == taskdb.FaultLock
	if first := l.failing.add(id, cause, locked, time.Now()); !first {
		return nil
	}
	l.observe(Event{Kind: EventAside, ID: id, Doing: doing, Err: cause})
	if !locked { // which is no problem of the task
		_ = l.role.update(hard, aloneWait, func(tx taskdb.Tx) error { return tx.SetProblem(hard, id, reasons.Unscheduled(cause)) })
	}
	return nil
}

// writeSuspects writes the plans of tasks that have failed before, one by one.
func (w *writer) writeSuspects(soft, hard context.Context) error {
	for _, id := range w.suspects {
		if soft.Err() != nil {
			break
		}
		if err := w.some(hard, []string{id}); err != nil {
			if err = w.leaveOut(hard, id, "submit", err); err != nil {
				return err
			}
		}
	}
	return nil
}

// readInParts reads tasks that could not be read together, unless a queue is to blame.
func (l *loop) readInParts(soft, hard context.Context, w taskdb.Wanted, cause error) (b batch.Batch, err error) {
	if broke, err := l.suspectSinks(hard, cause); broke || err != nil {
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
	inARow := 0
	for part := range slices.Chunk(ids, smallPart) {
		if soft.Err() != nil || inARow >= mostInARow {
			break
		}
		if err := read(part); err == nil {
			inARow = 0
			continue
		}
		for _, id := range part {
			err := read([]string{id})
			if inARow++; err == nil {
				inARow = 0
			} else if err := l.leaveOut(hard, id, "read", err); err != nil {
				return b, err
			}
		}
	}
	return b, nil
}

// mostPassed bounds the tasks that are asked about.
const mostPassed = 100

// errSuppressed is the error of a task that does not advance although nobody has locked its row.
var errSuppressed = errors.New("the database accepts the next tick of the task, but does not write it; look for a trigger that suppresses it")

// findSuppressed leaves out tasks that could not be written again and again although nobody has locked them.
func (l *loop) findSuppressed(hard context.Context) error {
	var free []string
	err := l.role.update(hard, aloneWait, func(tx taskdb.Tx) (err error) {
		free, err = tx.Free(hard, l.late.passed)
		return err
	})
	for _, id := range free {
		err = errors.Join(err, l.leaveOut(hard, id, "submit", errSuppressed))
	}
	return err
}

// isolatable reports whether an error may lie in one of several rows.
func (l *loop) isolatable(err error) bool {
	return !errors.Is(err, leader.ErrLost) && l.store.Fault(err) != taskdb.FaultDatabase
}
