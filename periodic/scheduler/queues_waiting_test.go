package scheduler_test

import (
	"testing"
	"time"
)

// A task moves to the table job and back under programs that do not know the other queue.
func TestQueueMovesWithoutItsConfiguration(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.planned(q, "queue")
		f.tick("a", 5, withAcme(q))
		f.exec("UPDATE acme_job SET state = 'done'")
		f.exec("UPDATE periodic_task SET sink = 'job' WHERE id = 'a'")
		f.due("a", 4*time.Second)
		f.ends()
		f.want(1, "SELECT count(*) FROM job")
		f.due("a", 3*time.Second)
		f.ends()
		f.exec("UPDATE job SET state = 'success'")
		f.ends()
		if f.one(decision, "a") != "submitted" {
			f.Error("the tick waits although the job before it has ended")
		}
		f.due("a", 2*time.Second)
		f.ends() // J2 waiting in job
		f.exec("UPDATE periodic_task SET sink = 'acme' WHERE id = 'a'")
		f.due("a", time.Second)
		f.ends(withAcme(q))
		f.want(1, "SELECT (SELECT count(*) FROM job WHERE state = 'waiting') + (SELECT count(*) FROM acme_job WHERE state = 'new')")
	})
}

// A job of the time before the policy allowed several still counts afterwards.
func TestQueueAllowInBetween(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.planned(q, "skip")
		f.tick("a", 5, withAcme(q))
		f.exec("UPDATE acme_job SET state = 'busy'")
		f.exec("UPDATE periodic_task SET overlap = 'allow' WHERE id = 'a'")
		f.tick("a", 4, withAcme(q))
		f.exec("UPDATE acme_job SET state = 'done' WHERE state = 'new'")
		f.exec("UPDATE periodic_task SET overlap = 'skip' WHERE id = 'a'")
		f.tick("a", 3, withAcme(q))
		f.want(1, "SELECT count(*) FROM acme_job WHERE tracker = 'a' AND state IN ('busy','new')")
	})
}
