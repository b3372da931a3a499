package executor_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// In a table that nextrun has found, SQLite's columns take any value; jobs with nonsense run as others do, and can be
// listed.
func TestNonsenseInARowHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	q := newFixture(migrated.New(t, storetest.SQLite))
	q.sql("DROP TRIGGER nextrun_job_refuse_edited; DROP TRIGGER nextrun_job_refuse_moved")
	var jids []string
	for _, set := range []string{
		"submitted = '2026-01-01T00:00:00'", "submitted = 'yesterday'", "submitted = 1700000000", "priority = 'high'", "priority = 10.5",
		"priority = 9223372036854775807", "retries = 'many'", "due = 'soon'", "single = 'yes'", "args = x'00ff'", "group_ = 'g' || char(0)",
	} {
		bad, good := q.submit(jobqueue.Job{Task: "t"})[0], q.submit(jobqueue.Job{Task: "t"})[0]
		q.sql("UPDATE job SET %s WHERE jid = '%s'", set, bad)
		t.Logf("%s: %s", bad, set)
		jids = append(jids, bad, good)
	}
	e := q.run(executor.Config{}, map[string]jobqueue.Handler{"t": nothing})
	for _, jid := range jids {
		e.awaitEnd(jid, jobqueue.Success)
	}
	if jobs, err := q.queue.List(q.ctx, jobqueue.Filter{}); err != nil || len(jobs) != len(jids) {
		t.Errorf("%d jobs are listed, %v", len(jobs), err)
	}
}
