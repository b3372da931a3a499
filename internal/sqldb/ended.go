package sqldb

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// LookPause is how often to look for workers that have ended, while there is something
// that one may have left.
const LookPause = 500 * time.Millisecond

// lookFailed is when to look again after a look that failed.
const lookFailed = 10 * time.Second

// Ended lists the workers that watched, and of which the database knows that their
// processes, or their connections, have ended: what they left need not wait for its
// lease. A worker that cannot be judged is not among them. again is when to look again,
// if there is a reason to; 0: the database can never tell, and only leases count. A look
// that fails, as when somebody has locked the table, stops nobody: leases decide, and it is
// repeated later.
func (db *DB) Ended(ctx context.Context) (workers []string, again time.Duration, err error) {
	if left := db.endings.holdsOff(time.Now()); left > 0 {
		return nil, left, nil
	}
	began := time.Now()
	listed, later, err := db.dialect.Ended(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, 0, fmt.Errorf("look for workers that have ended: %w", db.health.outcome(db.Classify(ctx, err), false, began))
		}
		db.endings.failed(time.Now())
		return nil, lookFailed, nil
	}
	if later != 0 {
		db.endings.forget()
		return nil, max(later, 0), nil
	}
	workers, again = db.endings.confirm(listed, db.words.EndedGrace, time.Now())
	return workers, again, nil
}

// Glance reads a row by a statement that is a transaction of its own: what is read often,
// and needs neither a time nor a second statement.
func (db *DB) Glance(ctx context.Context, into any, query string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, db.options.LockTimeout)
	defer cancel()
	began := time.Now()
	err := db.pools.Read.QueryRowContext(ctx, db.words.Rebind(query), args...).Scan(into)
	return db.health.outcome(db.Classify(ctx, err), false, began)
}

// endings remembers since when workers have been listed as ended. It is safe for
// concurrent use.
type endings struct {
	mu    sync.Mutex
	since map[string]time.Time
	later time.Time // no look before: the last one counts
}

// failed notes a look that failed: the next one, later, is a first one.
func (e *endings) failed(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.since, e.later = nil, now.Add(lookFailed)
}

// holdsOff is the rest of the pause between looks; if it is not positive, look now. All
// services of a process share a look that found nobody. A worker that was found to have
// ended is always confirmed by a new look: it may be back.
func (e *endings) holdsOff(now time.Time) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.later.Sub(now)
}

// confirm returns the workers that have been listed for as long as grace says, at every
// look since. A worker that lives, and has only lost a connection, makes a new one
// meanwhile.
func (e *endings) confirm(listed []string, grace time.Duration, now time.Time) (sure []string, again time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.since
	e.since = make(map[string]time.Time, len(listed))
	again = LookPause
	for _, worker := range listed {
		since, seen := before[worker]
		if !seen {
			since = now
		}
		e.since[worker] = since
		if left := since.Add(grace).Sub(now); left > 0 {
			again = min(again, left)
		} else {
			sure = append(sure, worker)
		}
	}
	if e.later = (time.Time{}); len(sure) == 0 {
		e.later = now.Add(again)
	}
	return sure, again
}

// forget drops what was seen: the next look is a first one.
func (e *endings) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.since, e.later = nil, time.Time{}
}
