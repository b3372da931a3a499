package scheduler_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// accounted is the number of seconds between the first and the last recorded
// tick of a task that elapses every second, less the ticks that rows account
// for: 0 for each task (G2).
const accounted = `SELECT coalesce(sum(abs(span - ticks)), 0) FROM (SELECT
		round(extract(epoch FROM max(coalesce(until, due)) - min(due))) + 1 AS span,
		sum(CASE WHEN decision = 'missed' THEN missed ELSE 1 END) AS ticks
	FROM periodic_tick GROUP BY task_id) AS t`

// Somebody holds periodic_tick as a whole while a scheduler works. It waits, however
// long that takes, takes no task or queue for bad, and every tick is accounted for.
func TestHeldTableBlamesNoRowPostgres(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec("INSERT INTO periodic_task (id, task, timer, overlap) SELECT 'task-' || n, 'backup', '*:*:*', 'allow' FROM generate_series(1, 20) AS n")
	db := f.opened(store.Options{LockTimeout: 200 * time.Millisecond})
	s, seen := f.start(db.Periodic())
	tickAfter := func(what string) {
		since := time.Now()
		seen.until(f, "tick after "+what, func(e scheduler.Event) bool { return e.Kind == scheduler.EventTick && e.Tick.Due.After(since) })
	}
	tickAfter("the start")
	f.heldTable(seen)
	tickAfter("a long lock")
	f.stop(s)
	f.guarantees()
	f.want(0, accounted)
	f.want(0, "SELECT count(*) FROM periodic_task WHERE problem IS NOT NULL")
	for _, e := range seen.list {
		if e.Kind == scheduler.EventProblem || e.Kind == scheduler.EventSink {
			t.Errorf("%s: %s %s %v", e.Kind, e.ID, e.Problem, e.Err)
		}
	}
}

// heldTable has the table locked, as a conversion of many rows does, until the scheduler has
// given up waiting for it more than once.
func (f *fixture) heldTable(seen *events) {
	f.Helper()
	tx, err := f.SQL.Begin()
	f.done(err)
	defer tx.Rollback()
	if _, err := tx.Exec("LOCK TABLE periodic_tick IN ACCESS EXCLUSIVE MODE"); err != nil {
		f.Fatal(err)
	}
	troubles := func() (n int) {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		for _, e := range seen.list {
			if e.Kind != scheduler.EventTick && e.Kind != scheduler.EventBatch {
				n++
			}
		}
		return n
	}
	before := troubles()
	storetest.Eventually(f, "the scheduler gives up waiting", func() bool { return troubles() >= before+2 })
}

// Somebody has locked the table that only tells who works: ticks come on time.
func TestLockedTableOfWorkersHoldsUpNoTickPostgres(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('t', 'backup', '*:*:*', 'allow')")
	lock := f.open("LOCK TABLE worker IN ACCESS EXCLUSIVE MODE")
	s, seen := f.start(f.db.Periodic())
	for range 3 {
		seen.until(f, "tick", kindOf(scheduler.EventTick))
	}
	f.done(lock.Rollback())
	f.stop(s)
	f.guarantees()
	f.want(0, accounted)
	f.want(0, "SELECT count(*) FROM periodic_tick WHERE decision <> 'submitted'")
}
