package scheduler_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic/scheduler"
)

// A scheduler that knows up to when nothing is left finds a task that was moved further back without a
// notification, as a restored or replicated row is, when it looks for all again.
func TestTaskMovedBackWithoutNotificationIsFound(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec(`INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('often', 'backup', 'every 1s', 'allow'), ('moved', 'backup', 'yearly', 'allow')`)
	_, seen := f.start(f.db.Periodic(), func(c *scheduler.Config) { c.PollInterval = 100 * time.Millisecond })
	of := func(id string) func(scheduler.Event) bool {
		return func(e scheduler.Event) bool { return e.Kind == scheduler.EventTick && e.Tick.TaskID == id }
	}
	seen.until(f, "two ticks, between which nothing was left", nth(2, of("often")))
	f.exec(`SET session_replication_role = replica;
		UPDATE periodic_task SET due = timestamp '2026-01-01', nextrun = timestamp '2026-01-01' WHERE id = 'moved';
		SET session_replication_role = origin`)
	seen.until(f, "tick of the task that was moved", of("moved"))
}
