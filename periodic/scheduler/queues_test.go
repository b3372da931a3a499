package scheduler_test

import (
	"strings"
	"testing"
)

// While a job is not final the policies decide, on a queue that has no column for
// the task.
func TestQueueOverlap(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		for _, c := range []struct{ overlap, state, decision, jobs string }{
			{"skip", "busy", "skipped", "1"}, {"queue", "new", "", "1"}, {"allow", "busy", "submitted", "2"},
			{"replace", "busy", "", "1"}, {"skip", "done", "submitted", "2"}, {"queue", "done", "submitted", "2"},
		} {
			id := c.overlap + "-" + c.state
			f.addAcme(id, c.overlap)
			f.plan(q)
			f.tick(id, 2, withAcme(q))
			f.exec("UPDATE acme_job SET state = ? WHERE tracker = ?", c.state, id)
			f.tick(id, 1, withAcme(q))
			if c.decision == "" {
				f.waitsFor(id, 1)
			} else {
				f.want(c.decision, decision, id)
			}
			f.want(c.jobs, acmeJobs, id)
		}
		f.want("overlap", "SELECT cause FROM periodic_tick WHERE task_id = 'skip-busy' ORDER BY due DESC LIMIT 1")
		f.want(0, "SELECT count(*) FROM periodic_task WHERE id = 'skip-busy' AND problem IS NOT NULL")
		if got := f.one("SELECT problem FROM periodic_task WHERE id = 'replace-busy'"); !strings.Contains(got, "cannot cancel") {
			f.Errorf("a queue that cannot cancel gives the problem %q", got)
		}
	})
}

// replace cancels a waiting job where the queue permits that, and waits for a
// running one.
func TestQueueReplaces(t *testing.T) {
	both(t, func(f *fixture) {
		q := acmeCanceller{f.acme()}
		f.planned(q, "replace")
		f.tick("a", 3, withAcme(q))
		f.tick("a", 2, withAcme(q))
		f.want(1, "SELECT count(*) FROM acme_job WHERE state = 'cancelled'")
		f.want(1, "SELECT count(*) FROM acme_job WHERE state = 'new'")
		f.want(0, "SELECT count(*) FROM periodic_task WHERE problem IS NOT NULL")
		f.exec("UPDATE acme_job SET state = 'busy' WHERE state = 'new'")
		f.tick("a", 1, withAcme(q))
		f.waitsFor("a", 2)
		f.exec("UPDATE acme_job SET state = 'new' WHERE state = 'busy'") // it failed, and is to be retried
		f.start(f.db.Periodic(), withAcme(q))
		f.soon(3, "SELECT count(*) FROM periodic_tick WHERE decision = 'submitted'")
		f.want(2, "SELECT count(*) FROM acme_job WHERE state = 'cancelled'")
	})
}
