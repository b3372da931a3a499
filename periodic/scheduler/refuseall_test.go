package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic/scheduler"
)

// A table that refuses every row loses no tick, also where tasks of another sink succeed
// meanwhile: once the table takes rows again, all that was due is submitted.
func TestTableThatRefusesAllJobsSkipsNothing(t *testing.T) {
	both(t, func(f *fixture) {
		for i := range 20 {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES (?, 'backup', '*:*:*', 'allow')", fmt.Sprintf("one-%d", i))
		}
		for i := range 3 {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap, catchup) VALUES (?, 'backup', '*:*:*', 'allow', 'all')", fmt.Sprintf("all-%d", i))
		}
		f.exec("INSERT INTO periodic_task (id, task, timer, sink) VALUES ('event', 'told', '*:*:*', 'event')")
		_, seen := f.start(f.db.Periodic())
		seen.until(f, "first job", submitted("all-0"))
		allow := f.Refuse("job", "INSERT", "true", "P0001")
		refused := time.Now()
		dueAfter := func(id string, at time.Time) func(scheduler.Event) bool {
			return func(e scheduler.Event) bool { return submitted(id)(e) && e.Tick.Due.After(at) }
		}
		seen.until(f, "event meanwhile", dueAfter("event", refused.Add(6*time.Second)))
		allow()
		mended := time.Now()
		for _, id := range []string{"one-0", "all-0", "all-1", "all-2"} {
			seen.until(f, "job afterwards", dueAfter(id, mended))
		}
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE decision = 'skipped'")
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'all-%' AND decision <> 'submitted'")
	})
}
