package scheduler_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic/scheduler"
)

// A queue that cannot be asked about its jobs is reported once, not for each of them.
func TestQueueThatCannotBeAskedIsQuiet(t *testing.T) {
	bubble(t, func(f *fixture) {
		q := f.acme()
		f.exec(`INSERT INTO periodic_task (id, task, timer, overlap, sink) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
			SELECT 'a' || i, 'a', 'yearly', 'queue', 'acme' FROM n`)
		f.plan(q)
		f.exec(`INSERT INTO periodic_open (task_id, sink, ref, jid, due, submitted, look)
			SELECT id, 'acme', 'acme-x', 'jid' || id, '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000' FROM periodic_task`)
		f.exec(`INSERT INTO acme_job VALUES ('acme-x', 'a', '', 'a', 'busy')`)
		f.exec("UPDATE periodic_task SET nextrun = '1999-01-02 00:00:00.000000', due = '1999-01-02 00:00:00.000000'")
		q.broken = errors.New("broken")
		n := 0
		s, _ := f.start(f.db.Periodic(), withAcme(acmeProber{q}), func(c *scheduler.Config) {
			c.Observe = func(e scheduler.Event) {
				if e.Kind == scheduler.EventError || e.Kind == scheduler.EventSink && e.Err != nil {
					n++
				}
			}
		})
		pass(2 * time.Second)
		f.stop(s)
		if n == 0 || n > 20 {
			f.Errorf("%d errors in two seconds", n)
		}
	})
}
