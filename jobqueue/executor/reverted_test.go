package executor_test

import (
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// A job that a trigger puts back as it begins is set aside and named once. It is not
// claimed over and over, and its handler does not run.
func TestJobsThatATriggerPutsBackAreSetAside(t *testing.T) {
	onPostgres(t, func(t *testing.T, q *fixture) {
		q.trigger("NEW.state = 'running'", "NEW.state := OLD.submitter; NEW.worker := NULL; RETURN NEW", "")
		var bad []string
		for _, state := range []string{"waiting", "scheduled", "stuck"} {
			bad = append(bad, q.submit(jobqueue.Job{Task: "bad", Subject: "bad", Submitter: state})...)
		}
		e, runs := q.healthy(executor.Config{})
		for _, jid := range bad {
			e.await(1, "that name "+jid, refused(jid))
		}
		q.punctual(runs)
		for _, jid := range bad {
			handled := e.count(func(e executor.Event) bool {
				return e.Job.JID == jid && (e.Kind == executor.EventEnded || e.Kind == executor.EventBegun)
			})
			if n := e.count(refused(jid)); n != 1 || handled != 0 {
				t.Errorf("job %s was named %d times, and begun or ended %d times", jid, n, handled)
			}
		}
		q.dropTrigger()
		q.sql("UPDATE job SET state = 'waiting', retry = NULL WHERE subject = 'bad'")
		for _, jid := range bad {
			e.awaitEnd(jid, jobqueue.Success)
		}
	})
}
