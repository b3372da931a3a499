package executor_test

import (
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// A trigger may raise any code, such as one that asks a remote server which is down.
// It fails its own job only, which is named.
func TestCodesThatATriggerRaisesHoldUpNoOtherJob(t *testing.T) {
	for when, condition := range map[string]string{"begin": "NEW.state = 'running'", "end": "NEW.state = 'success'"} {
		t.Run("at "+when, func(t *testing.T) {
			onPostgres(t, func(t *testing.T, q *fixture) {
				q.trigger(condition, "RAISE EXCEPTION 'no' USING ERRCODE = OLD.submitter", "")
				var bad []string
				for _, code := range []string{"40001", "08001", "25006", "53100"} {
					bad = append(bad, q.submit(jobqueue.Job{Task: "bad", Subject: "bad", Submitter: code})...)
				}
				e, runs := q.healthy(executor.Config{})
				q.punctual(runs)
				for _, jid := range bad {
					e.await(1, "that name "+jid, refused(jid))
				}
				q.dropTrigger()
				for _, jid := range bad {
					e.awaitEnd(jid, jobqueue.Success)
				}
			})
		})
	}
}
