package executor_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

func TestJobRunsThroughAllStates(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		inside := make(chan jobqueue.Job, 1)
		e := q.run(executor.Config{Name: "w1"}, map[string]jobqueue.Handler{
			"greet": func(_ context.Context, job *jobqueue.JobContext) error {
				job.Log(jobqueue.Info, "hello "+job.Args)
				job.SetProgress(50)
				job.SetResult("greeted")
				inside <- q.get(job.JID)
				return nil
			},
		})
		jid := q.submit(jobqueue.Job{Task: "greet", Args: `"world"`})[0]
		seen := receive(q, inside, "the handler")
		if seen.State != jobqueue.Running || seen.Worker != e.Worker() || seen.Started.IsZero() {
			t.Errorf("inside the handler: %+v", seen)
		}
		if !strings.HasPrefix(e.Worker(), "w1@") {
			t.Errorf("worker %q", e.Worker())
		}
		e.awaitEnd(jid, jobqueue.Success)
		job := q.get(jid)
		if job.State != jobqueue.Success || job.Progress != 100 || job.Result != "greeted" || job.Finished.IsZero() || job.Retries != 0 {
			t.Errorf("at the end: %+v", job)
		}
		log := q.log(jid)
		if len(log) != 2 || !strings.HasPrefix(log[0], "attempt 1 begins on w1@") || log[1] != `hello "world"` {
			t.Errorf("log: %q", log)
		}
	})
}
