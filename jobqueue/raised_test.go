package jobqueue_test

import (
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store/storetest"
)

// A trigger may raise any code, such as one that asks a remote server which is down.
// It fails its own job only, which is named.
func TestCodesThatATriggerRaisesHoldUpNoOtherJob(t *testing.T) {
	for _, code := range []string{"40001", "08001", "25006", "53100"} {
		for when, condition := range map[string]string{"begin": "NEW.state = 'running'", "end": "NEW.state = 'success'"} {
			t.Run(code+" at "+when, func(t *testing.T) {
				onPostgres(t, func(t *testing.T, q *fixture) {
					q.trigger(condition, "RAISE EXCEPTION 'no' USING ERRCODE = '"+code+"'", "")
					bad := q.submit(jobqueue.Job{Task: "bad", Subject: "bad"})[0]
					e, runs := q.healthy(jobqueue.Config{})
					if late := q.lateness(runs); late > storetest.MaxLateness {
						t.Errorf("healthy jobs are %s late", late)
					}
					e.await(1, "that name "+bad, refused(bad))
					q.dropTrigger()
					e.awaitEnd(bad, jobqueue.Success)
				})
			})
		}
	}
}
