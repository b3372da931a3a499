package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/network"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// G5: one row never holds up another.

func TestG5BadTimerDelaysNobody(t *testing.T) {
	both(t, func(f *fixture) {
		for id, timer := range map[string]string{
			"empty": "", "nonsense": "when it rains", "zone": "daily Europe/Atlantis", "long": strings.Repeat("9", 254),
		} {
			f.exec(insertTask, id, timer)
			f.behind(id, time.Hour, time.Second)
		}
		f.exec(insertTask, "good", "yearly")
		f.due("good", time.Second)
		f.once()
		f.want(1, "SELECT count(*) FROM job")
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'good'")
		f.want(4, "SELECT count(*) FROM periodic_task WHERE problem IS NOT NULL AND due = ?", utc(periodic.Never))
		if problem := f.one("SELECT problem FROM periodic_task WHERE id = 'zone'"); !strings.Contains(problem, "Europe/Atlantis") {
			f.Errorf("the problem does not name the zone: %q", problem)
		}
		f.exec("UPDATE periodic_task SET timer = 'daily' WHERE id = 'nonsense'")
		f.once()
		f.want("", "SELECT problem FROM periodic_task WHERE id = 'nonsense'")
	})
}

// A transaction left open on one task holds up no other; that task follows when
// it ends. On SQLite an open write transaction blocks every writer.
func TestG5OpenTransactionOnOneTask(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec(insertTask, "locked", "yearly")
	f.exec(insertTask, "free", "yearly")
	due := f.due("locked", time.Second)
	f.due("free", time.Second)
	open := f.Hold("SELECT * FROM periodic_task WHERE id = 'locked' FOR UPDATE")
	_, seen := f.start(f.db.Periodic())
	seen.until(t, "job", submitted("free"))
	f.want(0, "SELECT count(*) FROM job WHERE tracker = 'locked'")
	f.done(open.Rollback())
	seen.until(t, "job", submitted("locked"))
	f.want(1, "SELECT count(*) FROM job WHERE tracker = 'locked' AND due = ?", utc(due))
}

// Many unplanned rows do not hold up a due one.
func TestG5DueBeforeUnplanned(t *testing.T) {
	both(t, func(f *fixture) {
		for _, id := range []string{"n1", "n2", "n3", "n4", "n5"} {
			f.exec(insertTask, id, "yearly")
		}
		f.exec(insertTask, "due", "yearly")
		f.due("due", time.Second)
		h := &hooked{Store: f.db.Periodic(), beforeUpdate: func(n int64) error {
			if n > nthTake+1 {
				return errDead // after the first two batches, which are written at the same time
			}
			return nil
		}}
		s, _ := f.make(h, func(c *scheduler.Config) { c.BatchSize = 2 })
		if err := s.RunOnce(f.Context()); !errors.Is(err, errDead) {
			f.Errorf("RunOnce = %v", err)
		}
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'due'")
		f.want(3, "SELECT count(*) FROM periodic_task WHERE due IS NULL")
	})
}

// 20,000 tasks that wait for the end of their jobs, and as many rows that somebody has locked, all due at once, keep no
// other task from its ticks. On SQLite nobody locks single rows.
func TestG5ManyHeldAndLockedRows(t *testing.T) {
	both(t, func(f *fixture) {
		const many = 20_000
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) SELECT 'held-' || n, 'backup', 'yearly', 'queue' FROM " + f.series(many))
		f.exec("INSERT INTO job (jid, task, tracker, single, state) SELECT id, 'backup', id, ?, 'running' FROM periodic_task", true)
		f.exec("INSERT INTO periodic_task (id, task, timer) SELECT 'locked-' || n, 'backup', 'yearly' FROM " + f.series(many))
		at := f.at(5 * time.Second)
		f.exec("UPDATE periodic_task SET due = ?, nextrun = ?, timer = ?", at, at, "*"+at[4:])
		for _, id := range []string{"free-1", "free-2", "free-3"} {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap, catchup) VALUES (?, 'backup', '*:*:*', 'allow', 'all')", id)
		}
		if f.Kind == "postgres" {
			f.Hold("SELECT 1 FROM periodic_task WHERE id LIKE 'locked-%' FOR UPDATE")
		}
		s, _ := f.start(f.db.Periodic())
		storetest.Eventually(f, "each free task has eight ticks after they fell due", func() bool {
			return f.one("SELECT count(*) FROM (SELECT task_id FROM periodic_tick WHERE task_id LIKE 'free-%' AND due > ? GROUP BY task_id HAVING count(*) >= 8) AS f", at) == "3"
		})
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'free-%' AND decision <> 'submitted'")
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'held-%'")
		if f.Kind == "postgres" {
			f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'locked-%'")
			f.Logf("late by %s s in the median", f.one("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM decided - due)) FROM periodic_tick WHERE task_id LIKE 'free-%' AND due > ?", at))
		}
		f.stop(s)
	})
}

// A row that the database takes long to write is named, though it does not fail, and delays its batch by its own time
// only: batches get smaller, so most of those that fall due with it do not wait for it, and none is lost.
func TestG5SlowRowDelaysItsBatchOnly(t *testing.T) {
	both(t, func(f *fixture) {
		const others = 99
		f.Trigger("job", "INSERT", "NEW.tracker = 'slow'", "PERFORM pg_sleep(0.8); RETURN NEW",
			"SELECT max(x) FROM (WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 8000000) SELECT x FROM c)")
		for i := range others {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES (?, 'backup', 'every 1s', 'allow')", fmt.Sprintf("good-%02d", i))
		}
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('slow', 'backup', 'every 1s', 'allow')")
		s, seen := f.start(f.db.Periodic())
		seen.until(f, "name of a slow batch", func(e scheduler.Event) bool { return e.Kind == scheduler.EventSlow && e.Took > 500*time.Millisecond })
		small, ticks := false, 0
		seen.until(f, "ticks of the slow task in small batches", func(e scheduler.Event) bool {
			small = small || e.Kind == scheduler.EventBatch && e.Took > 500*time.Millisecond && e.Count <= others/4
			if small && e.Kind == scheduler.EventTick && e.Tick.TaskID == "slow" {
				ticks++
			}
			return ticks == 3
		})
		f.stop(s)
		f.guarantees()
	})
}

// distant is a database at the end of a slow line: an answer that was read is old.
type distant struct{ scheduler.Store }

func (d distant) Read(ctx context.Context, fn func(batch.Tx) error) error {
	err := d.Store.Read(ctx, fn)
	elapse(2100 * time.Millisecond)
	return err
}

// Where reading takes longer than a plan lasts otherwise, ticks are late, and none waits for better times.
func TestG6SlowDatabaseDelaysTicksAndHoldsNoneUp(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('a', 'echo', 'every 1s', 'allow')")
		s, seen := f.start(distant{f.db.Periodic()})
		for range 2 {
			seen.until(f, "a batch", func(e scheduler.Event) bool { return e.Kind == scheduler.EventBatch && e.Ticks > 0 })
		}
		f.stop(s)
		f.guarantees()
	})
}

// A process that stops while it is sent large args keeps its locks no longer than the server lets
// an idle transaction last.
func TestG5ProcessThatStopsInALargeAnswerKeepsNoLocks(t *testing.T) {
	f := newPostgresFixture(t)
	q := f.acme()
	f.addAcme("a", "allow")
	f.plan(q)
	f.exec("UPDATE periodic_task SET args = 'the args ' || repeat('x', 32 << 20) WHERE id = 'a'")
	f.due("a", time.Second)
	ctx, cancel := context.WithCancel(f.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() }) // once its connections are closed
	n := network.New(t, f.URL)
	n.StopAt("the args ")
	far, err := store.Open(f.Context(), n.URL, store.Options{IdleTimeout: time.Second})
	f.done(err)
	t.Cleanup(func() { _ = far.Close() })
	s, _ := f.make(far.Periodic(), withAcme(q))
	running.Go(func() { _ = s.RunOnce(ctx) })
	<-n.Silent
	locked := func() bool {
		return f.one("SELECT count(*) FROM (SELECT 1 FROM periodic_task FOR UPDATE SKIP LOCKED) AS t") == "0"
	}
	if !locked() {
		t.Fatal("the task was not locked")
	}
	storetest.Eventually(f, "its locks are gone", func() bool { return !locked() })
}
