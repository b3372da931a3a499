package executor_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// In a table that nextrun has found, SQLite's columns take any value; one job with
// nonsense holds up no other.
func TestNonsenseInARowHoldsUpNoOther(t *testing.T) {
	for name, set := range map[string]string{
		"ISO time": "submitted = '2026-01-01T00:00:00'", "no time": "submitted = 'yesterday'", "number": "submitted = 1700000000",
		"priority": "priority = 'high'", "fraction": "priority = 10.5", "retries": "retries = 'many'", "due": "due = 'soon'",
		"single": "single = 'yes'", "args": "args = x'00ff'", "huge": "priority = 9223372036854775807", "NUL": "group_ = 'g' || char(0)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newFixture(migrated.New(t, storetest.SQLite))
			bad := q.submit(jobqueue.Job{Task: "t"})[0]
			q.sql("DROP TRIGGER nextrun_job_refuse_edited; DROP TRIGGER nextrun_job_refuse_moved")
			q.sql("UPDATE job SET %s WHERE jid = '%s'", set, bad)
			good := q.submit(jobqueue.Job{Task: "t"})[0]
			e := q.run(executor.Config{}, map[string]jobqueue.Handler{"t": nothing})
			e.awaitEnd(good, jobqueue.Success)
			e.awaitEnd(bad, jobqueue.Success)
			if _, err := q.queue.List(q.ctx, jobqueue.Filter{}); err != nil {
				t.Errorf("list: %v", err)
			}
		})
	}
}
