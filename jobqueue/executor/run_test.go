package executor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
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

func TestRetriesThenFails(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		var mended atomic.Bool
		e := q.run(executor.Config{RetryDelay: 1, RetryLimit: 2}, map[string]jobqueue.Handler{
			"fail": func(context.Context, *jobqueue.JobContext) error {
				if mended.Load() {
					return nil
				}
				return errors.New("no luck")
			},
		})
		jid := q.submit(jobqueue.Job{Task: "fail"})[0]
		e.awaitEnd(jid, jobqueue.Failed)
		job := q.get(jid)
		if job.Retries != 2 || job.Result != "no luck" || job.Finished.IsZero() {
			t.Errorf("at the end: %+v", job)
		}
		begun := slices.DeleteFunc(q.log(jid), func(line string) bool { return !strings.HasPrefix(line, "attempt ") })
		if len(begun) != 3 || !strings.HasPrefix(begun[2], "attempt 3 ") {
			t.Errorf("attempts in the log: %q", begun)
		}
		if n := e.count(ended(jobqueue.Stuck)); n != 2 {
			t.Errorf("stuck %d times", n)
		}
		mended.Store(true)
		if err := q.queue.Retry(q.ctx, jid); err != nil {
			t.Fatal(err)
		}
		e.awaitEnd(jid, jobqueue.Success)
		if job := q.get(jid); job.Retries != 0 || job.Result != "" {
			t.Errorf("after a retry by hand: %+v", job)
		}
	})
}
