package executor_test

import (
	"context"
	"fmt"
	"strings"
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

func TestGroupThatIsNamedTwice(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		handlers := map[string]jobqueue.Handler{}
		var jobs []jobqueue.Job
		for i := range 40 {
			task := fmt.Sprintf("t%d", i)
			handlers[task] = nothing
			jobs = append(jobs, jobqueue.Job{Task: task, Group: "a"})
		}
		q.submit(jobs...)
		e := q.run(executor.Config{Groups: []string{"a", "b", "a"}}, handlers)
		e.await(len(jobs), "of success", ended(jobqueue.Success))
	})
}

func TestLargeArgs(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		args := `{"a": "` + strings.Repeat("ü", 5<<20) + `"}`
		got := make(chan bool, 1)
		e := q.run(executor.Config{}, map[string]jobqueue.Handler{
			"t": func(_ context.Context, job *jobqueue.JobContext) error { got <- job.Args == args; return nil },
		})
		e.awaitEnd(q.submit(jobqueue.Job{Task: "t", Args: args})[0], jobqueue.Success)
		if !<-got {
			t.Error("the args are not those that were submitted")
		}
	})
}
