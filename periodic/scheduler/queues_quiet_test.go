package scheduler_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
)

// A mistyped sink disturbs nobody, not even while a tick of the task waits.
func TestQueueTypoWhileATickWaits(t *testing.T) {
	f := newSQLiteFixture(t)
	f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('a', 'backup', 'yearly', 'queue')")
	f.due("a", 2*time.Minute)
	f.once()
	f.due("a", time.Minute)
	f.once()
	f.want("queued", decision, "a")
	f.exec("UPDATE periodic_task SET sink = 'typo', timer = 'monthly' WHERE id = 'a'")
	f.ends()
	f.want("queued", decision, "a")
	if got := f.one("SELECT problem FROM periodic_task"); !strings.Contains(got, `sink "typo"`) {
		t.Errorf("the problem is %q", got)
	}
}

// While a queue refuses a job, nobody polls for its tick.
func TestQueueRefusalIsQuiet(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.aQueued("queue")
		q.refuse["a"] = sink.Submission{Refused: "later", Passing: true}
		f.exec("UPDATE acme_job SET state = 'done'")
		f.exec("DELETE FROM periodic_open")
		n := 0
		stop := f.run(f.db.Periodic(), withAcme(q), func(c *scheduler.Config) {
			c.Observe = func(e scheduler.Event) {
				if e.Kind == scheduler.EventLocked {
					n++
				}
			}
		})
		elapse(2 * time.Second)
		stop()
		if n > 4 {
			f.Errorf("the scheduler found rows locked %d times in two seconds", n)
		}
	})
}

// A queue that cannot be asked about its jobs is reported once, not for each of them.
func TestQueueThatCannotBeAskedIsQuiet(t *testing.T) {
	bubble(t, func(f *fixture) {
		q := f.acme()
		f.exec(`INSERT INTO periodic_task (id, task, timer, overlap, sink) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
			SELECT 'a' || i, 'a', 'yearly', 'queue', 'acme' FROM n`)
		f.plan(q)
		f.exec(`INSERT INTO periodic_open SELECT id, 'acme', 'acme-x', 'jid' || id, '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000' FROM periodic_task`)
		f.exec(`INSERT INTO acme_job VALUES ('acme-x', 'a', '', 'a', 'busy')`)
		f.exec(`INSERT INTO periodic_tick (task_id, due, decision, decided) SELECT id, '2026-01-02 00:00:00.000000', 'queued', '2026-01-01 00:00:00.000000' FROM periodic_task`)
		q.broken = errors.New("broken")
		n := 0
		stop := f.run(f.db.Periodic(), withAcme(q), func(c *scheduler.Config) {
			c.Observe = func(e scheduler.Event) {
				if e.Kind == scheduler.EventError {
					n++
				}
			}
		})
		pass(2 * time.Second)
		stop()
		if n == 0 || n > 20 {
			f.Errorf("%d errors in two seconds", n)
		}
	})
}

// A queue that tasks have left may be broken: the others go on.
func TestQueueLeftBehindIsBroken(t *testing.T) {
	f := newSQLiteFixture(t)
	q := f.acme()
	f.addAcme("a", "skip")
	f.exec("INSERT INTO periodic_task (id, task, timer) VALUES ('b', 'backup', 'yearly')")
	f.plan(q)
	f.due("a", 5*time.Second)
	f.tick("b", 5, withAcme(q))
	f.exec("UPDATE periodic_task SET sink = 'job' WHERE id = 'a'")
	f.due("a", 4*time.Second)
	f.due("b", 4*time.Second)
	q.broken = errors.New("the table of the queue is locked")
	f.ends(withAcme(q))
	q.broken = nil
	f.ends(withAcme(q))
	f.want(2, "SELECT count(*) FROM periodic_tick WHERE task_id = 'b'")
}

// A tick that is refused for good does not keep the next one waiting.
func TestQueueSecondTickOfAnEndedTask(t *testing.T) {
	f := newSQLiteFixture(t)
	q := f.aQueued("queue")
	f.exec("UPDATE periodic_task SET catchup = 'all' WHERE id = 'a'")
	f.tick("a", 1, withAcme(q))
	f.exec("UPDATE periodic_task SET ends = '2020-01-01 00:00:00.000000' WHERE id = 'a'")
	f.once(withAcme(q))
	f.exec("UPDATE acme_job SET state = 'done'")
	q.refuse["a"] = sink.Submission{Refused: "no"}
	f.exec("DELETE FROM periodic_open")
	f.ends(withAcme(q))
	delete(q.refuse, "a")
	f.ends(withAcme(q))
	f.want(0, "SELECT count(*) FROM periodic_tick WHERE decision = 'queued'")
}

// RunOnce ends although a queue refuses a queued tick for now.
func TestQueueRefusalDoesNotKeepOnceRunning(t *testing.T) {
	f := newSQLiteFixture(t)
	q := f.aQueued("queue")
	q.refuse["a"] = sink.Submission{Refused: "later", Passing: true}
	f.exec("UPDATE acme_job SET state = 'done'")
	f.exec("DELETE FROM periodic_open")
	f.ends(withAcme(q))
}
