package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// The row of the job that is to be replaced is locked by another session while
// the tick falls due: it is passed over, and the job asked to end as soon as the
// lock is gone.
func TestReplaceAsksALockedJobLater(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"running", "waiting"} {
		t.Run(state, func(t *testing.T) {
			f := newPostgresFixture(t)
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', 'yearly', 'replace')")
			f.due("report", 2*time.Second)
			f.once()
			f.exec("UPDATE job SET state = ?, jid = 'first'", state)
			open := f.Hold("SELECT 1 FROM job FOR UPDATE")
			_, seen := f.start(f.db.Periodic())
			f.exec("UPDATE periodic_task SET nextrun = now() AT TIME ZONE 'UTC'")
			f.exec("INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('other', 'backup', 'yearly', now() AT TIME ZONE 'UTC')")
			seen.until(t, "another task's job", submitted("other"))
			f.want(0, "SELECT count(*) FROM job WHERE cancel IS NOT NULL")
			f.done(open.Rollback())
			f.soon(1, "SELECT count(*) FROM job WHERE jid = 'first' AND cancel IS NOT NULL")
			if state == "running" {
				f.exec("UPDATE job SET state = 'cancelled' WHERE jid = 'first'")
			}
			seen.until(t, "job in its place", submitted("report"))
			f.want("cancelled", "SELECT state FROM job WHERE jid = 'first'")
			f.guarantees()
		})
	}
}

// soon waits until a query returns a value.
func (f *fixture) soon(value any, query string, args ...any) {
	f.Helper()
	storetest.Eventually(f, fmt.Sprintf("%s gives %v", query, value), func() bool { return f.one(query, args...) == fmt.Sprint(value) })
}
