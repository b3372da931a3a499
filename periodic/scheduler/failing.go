package scheduler

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic/batch"
)

// A statement that writes many rows fails for all of them when one cannot be written: a constraint refuses it,
// a trigger raises, somebody else holds a lock that it needs. The rows are then written in parts, and one by one
// where a part fails. A row that fails alone is left out, and tried again alone, ever more rarely.

const (
	// splitBudget is how long the plans of a failed batch are written in parts. What is left is read again.
	splitBudget = time.Second
	// aloneWait is how long the transaction of a single row waits for a lock: less than PostgreSQL's deadlock_timeout.
	aloneWait = 20 * time.Millisecond
)

// failing are the tasks that fail alone, by their ids. The loop owns it.
type failing map[string]*failure

type failure struct {
	version string // of the row
	err     error
	again   time.Time     // when it is tried again
	pause   time.Duration // before that
	trying  bool
}

// How long a task that fails is left out: twice as long each time. What waits for a lock is likely to work again soon.
const leastFailing, mostFailing = time.Second, 2 * time.Minute

// add leaves a task out. It reports whether that is new.
func (f failing) add(row batch.Row, err error, locked bool, now time.Time) (first bool) {
	least, most := leastFailing, mostFailing
	if locked {
		least, most = leastRetry, mostRetry
	}
	known := f[row.ID]
	if first = known == nil; first {
		known = &failure{}
		f[row.ID] = known
	}
	known.version, known.err, known.trying = row.Version, err, false
	known.pause = min(max(2*known.pause, least), most)
	known.again = now.Add(known.pause)
	return first
}

func (f failing) knows(id string) bool { return f[id] != nil }

// release has batches take a task again.
func (f failing) release(id string) { delete(f, id) }

// leftOut are the tasks that are not to be tried now, unless they are edited.
func (f failing) leftOut() (rows []batch.Row) {
	for id, known := range f {
		if !known.trying {
			rows = append(rows, batch.Row{ID: id, Version: known.version})
		}
	}
	return rows
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
			f.add(batch.Row{ID: id, Version: known.version}, known.err, true, now)
		}
	}
}

// idle notes that nothing is due but what is left out: those that were to be tried again are not due any more.
func (f failing) idle() {
	maps.DeleteFunc(f, func(_ string, known *failure) bool { return known.trying })
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

// trouble publishes what keeps a scheduler from some or all of its work.
type trouble struct {
	store  Store
	worker string
	told   string // as published; empty: nothing
}

// publish publishes the error of a round, or else that of a task that fails, if it
// is another one than before. A database that cannot be used is asked for nothing.
func (t *trouble) publish(ctx context.Context, err error, failing string) {
	text := failing
	if err != nil {
		if t.store.Fault(err) == service.FaultDatabase {
			return
		}
		text = err.Error()
	}
	if text != t.told && t.store.SetTrouble(ctx, t.worker, text) == nil {
		t.told = text
	}
}
