package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic/scheduler"
)

// What says which queued ticks can go ahead cannot be read: other ticks do not
// need it, and those that need the table job wait.
func TestG5QueuedTicksThatCannotBeLookedFor(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('queues', 'backup', 'yearly', 'queue')")
	f.queueOne("queues")
	cfg := f.config("queued")
	seen := watch(&cfg)
	f.start(cfg)
	open := f.open("LOCK TABLE job IN ACCESS EXCLUSIVE MODE")
	f.exec("INSERT INTO periodic_task (id, task, timer, sink) VALUES ('event', 'e', '*:*:*', 'event')")
	seen.until(t, "third event", nth(3, func(e scheduler.Event) bool { return e.Kind == scheduler.EventTick && e.Tick.TaskID == "event" }))
	if err := open.Rollback(); err != nil {
		t.Fatal(err)
	}
	f.exec("UPDATE job SET state = 'success' WHERE jid = 'first'")
	seen.until(t, "job of the queued tick", submitted("queues"))
}

// The table that says so is locked: ticks that do not queue do not touch it.
func TestG5QueuedTicksWhoseTableIsLocked(t *testing.T) {
	f := newPostgresFixture(t)
	open := f.open("LOCK TABLE periodic_ready IN ACCESS EXCLUSIVE MODE")
	f.healthy()
	f.onTime()
	if err := open.Rollback(); err != nil {
		t.Fatal(err)
	}
}

// queueOne gives a task a job, and a tick that waits for its end.
func (f *fixture) queueOne(id string) {
	f.Helper()
	f.exec("INSERT INTO job (jid, task, tracker, single, state) VALUES ('first', 'backup', ?, true, 'waiting')", id)
	f.due(id, time.Second)
	f.once()
	f.want("queued", "SELECT decision FROM periodic_tick WHERE task_id = ?", id)
	f.exec("INSERT INTO periodic_ready (task_id) VALUES (?)", id)
}

// The same with rights that are missing.
func TestG5QueuedTicksWithoutRights(t *testing.T) {
	t.Parallel()
	for _, right := range []string{"SELECT", "DELETE"} {
		t.Run(right, func(t *testing.T) {
			f := newPostgresFixture(t)
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('queues', 'backup', 'yearly', 'queue')")
			f.queueOne("queues")
			f.exec(insertTask, "other", "*:*:*")
			role := f.limitedRole()
			f.exec("REVOKE " + right + " ON periodic_ready FROM " + role)
			cfg := f.config("queued")
			seen := watch(&cfg)
			defer f.run(f.as(role).Periodic(), func(c *scheduler.Config) { c.Observe = cfg.Observe })()
			seen.until(t, "job", submitted("other"))
			e := seen.until(t, "sign that rights are missing", kindOf(scheduler.EventError))
			if !strings.Contains(e.Doing, "queued ticks") || !strings.Contains(e.Err.Error(), "periodic_ready") {
				t.Errorf("while %s: %v", e.Doing, e.Err)
			}
			f.exec("GRANT " + right + " ON periodic_ready TO " + role)
			f.exec("UPDATE job SET state = 'success' WHERE jid = 'first'")
			seen.until(t, "job of the queued tick", submitted("queues"))
		})
	}
}
