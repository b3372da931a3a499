package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
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
	lock := f.Hold("LOCK TABLE periodic_tick IN ACCESS EXCLUSIVE MODE")
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
	f.done(lock.Rollback())
}

// Somebody has locked the table that only tells who works: ticks come on time.
func TestLockedTableOfWorkersHoldsUpNoTickPostgres(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('t', 'backup', '*:*:*', 'allow')")
	lock := f.Hold("LOCK TABLE worker IN ACCESS EXCLUSIVE MODE")
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

// Somebody has locked periodic_open: the queues that need it wait, and are named; others go on, and afterwards all ticks are accounted for.
func TestLockedTableOfOpenJobsHoldsUpItsQueuesOnlyPostgres(t *testing.T) {
	f := newPostgresFixture(t)
	q := f.acme()
	for _, queue := range []string{"acme", "job", "event"} {
		f.exec("INSERT INTO periodic_task (id, task, timer, sink) VALUES (?, 'send', '*:*:*', ?)", queue, queue)
	}
	s, seen := f.start(f.db.Periodic(), withAcme(q), polls)
	ticks := func(queue string) {
		since := time.Now()
		seen.until(f, "tick of "+queue, func(e scheduler.Event) bool {
			return e.Kind == scheduler.EventTick && e.Tick.TaskID == queue && e.Tick.Due.After(since)
		})
	}
	ticks("acme")
	lock := f.Hold("LOCK TABLE periodic_open IN ACCESS EXCLUSIVE MODE")
	for _, queue := range []periodic.Sink{"acme", "job"} {
		e := seen.until(f, "the trouble is named", func(e scheduler.Event) bool { return e.Kind == scheduler.EventSink && e.Sink == queue })
		if e.Err == nil || !strings.Contains(e.Err.Error(), "periodic_open") {
			t.Errorf("%s: %v", queue, e.Err)
		}
	}
	for range 3 {
		ticks("event")
	}
	f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = 'event' AND decision = 'missed'")
	f.done(lock.Rollback())
	for _, queue := range []string{"acme", "job", "event"} {
		ticks(queue)
	}
	f.stop(s)
	f.guarantees()
	f.want(0, accounted)
}

// A row of periodic_open that somebody has locked holds up its task alone.
func TestLockedRowOfOpenJobsHoldsUpItsTaskOnlyPostgres(t *testing.T) {
	f := newPostgresFixture(t)
	q := f.acme()
	f.exec("INSERT INTO periodic_task (id, task, timer, sink) VALUES ('a', 'send', '*:*:*', 'acme'), ('b', 'send', '*:*:*', 'acme')")
	s, seen := f.start(f.db.Periodic(), withAcme(q), polls)
	f.soon(2, "SELECT count(*) FROM periodic_open")
	lock := f.Hold("SELECT 1 FROM periodic_open WHERE task_id = 'a' FOR UPDATE")
	f.exec("UPDATE acme_job SET state = 'done'")
	since := time.Now()
	seen.until(f, "tick of b", func(e scheduler.Event) bool {
		return e.Kind == scheduler.EventTick && e.Tick.TaskID == "b" && e.Tick.Decision == periodic.Submitted && e.Tick.Due.After(since)
	})
	f.done(lock.Rollback())
	seen.until(f, "tick of a", func(e scheduler.Event) bool {
		return e.Kind == scheduler.EventTick && e.Tick.TaskID == "a" && e.Tick.Decision == periodic.Submitted && e.Tick.Due.After(since)
	})
	f.stop(s)
	f.guarantees()
	f.want(0, accounted)
}
