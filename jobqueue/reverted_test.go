package jobqueue_test

import (
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store/storetest"
)

// A job that a trigger puts back as it begins is set aside and named once. It is not
// claimed over and over, and its handler does not run.
func TestJobsThatATriggerPutsBackAreSetAside(t *testing.T) {
	for _, state := range []jobqueue.State{jobqueue.Waiting, "scheduled", jobqueue.Stuck} {
		t.Run(string(state), func(t *testing.T) {
			onPostgres(t, func(t *testing.T, q *fixture) {
				q.trigger("NEW.state = 'running'", "NEW.state := '"+string(state)+"'; NEW.worker := NULL; NEW.heartbeat := NULL; RETURN NEW", "")
				bad := q.submit(jobqueue.Job{Task: "bad", Subject: "bad"})[0]
				e, runs := q.healthy(jobqueue.Config{})
				e.await(1, "that name "+bad, refused(bad))
				if late := q.lateness(runs); late > storetest.MaxLateness {
					t.Errorf("healthy jobs are %s late", late)
				}
				handled := e.count(func(e jobqueue.Event) bool {
					return e.Job.JID == bad && (e.Kind == jobqueue.EventEnded || e.Kind == jobqueue.EventBegun)
				})
				if n := e.count(refused(bad)); n != 1 || handled != 0 {
					t.Errorf("job %s was named %d times, and begun or ended %d times", bad, n, handled)
				}
				q.dropTrigger()
				q.sql("UPDATE job SET state = 'waiting', retry = NULL WHERE jid = '%s'", bad)
				e.awaitEnd(bad, jobqueue.Success)
			})
		})
	}
}
