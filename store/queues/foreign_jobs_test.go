package queues_test

import (
	"testing"

	"github.com/nextrun/nextrun/store/queues"
)

// A remove_job, or an add_jobs, with the key of a running job takes the key and the
// retries away. The job still runs.
func TestGraphileJobThatLostItsKeyIsPending(t *testing.T) {
	f := graphileFixture(t)
	q := f.queue(queues.GraphileWorker{})
	open := f.accept(q, f.tasks(1)...)
	f.Exec("UPDATE graphile_worker._private_jobs SET attempts = 1, locked_at = now(), locked_by = 'w'")
	f.Exec("UPDATE graphile_worker._private_jobs SET key = NULL, attempts = max_attempts")
	wantStates(t, f.pending(q, open...), map[string]string{open[0].JID: "running"})
	wantSame(t, f.cancel(q, open...))
	f.Exec("UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL") // it failed
	wantStates(t, f.pending(q, open...), nil)
}
