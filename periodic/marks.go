package periodic

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/internal/batch"
)

// marker makes the marks of a scheduler. It is safe for concurrent use.
type marker struct {
	prefix string
	n      atomic.Uint64
}

func (m *marker) next() string { return fmt.Sprintf("%s.%d", m.prefix, m.n.Add(1)) }

// leftMarks are marks that nobody works under any more. The loop owns them.
type leftMarks struct {
	store   backend.Store
	role    role
	lease   time.Duration
	observe func(Event)
	own     []string  // of this scheduler
	tried   time.Time // when it was last tried to remove them
	lookAt  time.Time // when to ask whether their workers have ended; zero: there are none, or nobody knows
}

// add notes own marks, to be removed in the next round without delay.
func (m *leftMarks) add(marks ...string) {
	m.own = append(m.own, marks...)
	m.tried = time.Time{}
}

// remove removes the marks of this scheduler that batches left behind because they failed, or
// because somebody else had locked rows. Marks of rows that are still locked are
// kept for the next time.
func (m *leftMarks) remove(ctx context.Context) error {
	if time.Since(m.tried) < lockedRetry {
		return nil
	}
	return m.removeWithin(ctx, batch.Wait)
}

// removeWithin is remove, now, with a limit for the wait for a lock.
func (m *leftMarks) removeWithin(ctx context.Context, limit time.Duration) error {
	if len(m.own) == 0 {
		return nil
	}
	var left []string
	err := m.store.Update(ctx, limit, func(tx backend.Tx) (err error) {
		left, err = tx.Unmark(ctx, m.own)
		return err
	})
	if err != nil {
		return err
	}
	if m.own = left; len(left) > 0 {
		m.tried = time.Now()
	}
	return nil
}

const (
	// endWait is how long the end of a scheduler waits for a lock: no other task waits for it.
	endWait = 2 * time.Second
	// endPatience is how long the end of a scheduler goes on trying.
	endPatience = 5 * time.Second
)

// removeAll removes all of them at the end of the scheduler. A transaction that was given up may
// hold its rows for another moment, and a busy database may have time then.
func (m *leftMarks) removeAll(ctx context.Context) error {
	begun := time.Now()
	for tries := 0; ; tries++ {
		err := m.removeWithin(ctx, endWait)
		if err == nil && len(m.own) == 0 || tries == maxTries || time.Since(begun) > endPatience {
			return err
		}
		if ended := wait(ctx, batch.Wait/2); ended != nil {
			return cmp.Or(err, ended)
		}
	}
}

// clear removes expired marks, those of a worker name if one is given, and those of
// workers that have ended. It returns their number.
func (m *leftMarks) clear(ctx context.Context, name string, ended []string) (count int, err error) {
	err = m.role.update(ctx, batch.Wait, func(tx backend.Tx) (err error) {
		count, err = tx.ClearMarks(ctx, backend.Stale{Lease: m.lease, Name: name, Ended: ended})
		return err
	})
	if err == nil && count > 0 {
		m.observe(Event{Kind: EventCleared, Count: count})
	}
	return count, err
}

// endedLook is how long there must be marks before their workers are asked for: as a rule
// they are gone by then.
const endedLook = 500 * time.Millisecond

// ended returns the workers of marks that have ended, if it is time to look.
func (m *leftMarks) ended(ctx context.Context, marked bool) ([]string, error) {
	now := time.Now()
	switch {
	case !marked:
		m.lookAt = time.Time{}
		return nil, nil
	case m.lookAt.IsZero():
		m.lookAt = now.Add(endedLook)
		return nil, nil
	case now.Before(m.lookAt):
		return nil, nil
	}
	workers, again, err := m.store.Ended(ctx)
	if err != nil {
		return nil, err
	}
	if again == 0 {
		again = m.lease
	}
	m.lookAt = now.Add(again)
	return workers, nil
}

// clearStale removes expired marks, and those of workers that have ended. It reports
// whether it did, or could not because somebody else has locked the rows.
func (m *leftMarks) clearStale(ctx context.Context, peek *backend.Peek) (cleared, locked bool, err error) {
	ended, err := m.ended(ctx, !peek.Marked.IsZero())
	expired := !peek.Marked.IsZero() && m.expired(peek)
	if err != nil || !expired && len(ended) == 0 {
		return false, false, err
	}
	n, err := m.clear(ctx, "", ended)
	if err != nil || n > 0 || !expired {
		return n > 0, false, err
	}
	peek.Marked = time.Time{}
	return false, true, nil
}

// expired reports whether the earliest mark is older than the lease, or so far
// in the future that only a clock that was set back can have left it there.
func (m *leftMarks) expired(p *backend.Peek) bool {
	age := p.Now.Sub(p.Marked)
	return age > m.lease || age < -m.lease
}
