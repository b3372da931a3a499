package executor_test

import (
	"context"
	"errors"
	"slices"
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

func TestOnlyRegisteredTasksAreClaimed(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		others := q.submit(jobqueue.Job{Task: "unknown"})[0]
		mine := q.submit(jobqueue.Job{Task: "known"})[0]
		e := q.run(executor.Config{}, map[string]jobqueue.Handler{"known": nothing})
		e.awaitEnd(mine, jobqueue.Success)
		if job := q.get(others); job.State != jobqueue.Waiting {
			t.Errorf("a job without a handler here is %s", job.State)
		}
	})
}

func TestRetriesThenFails(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		e := q.run(executor.Config{RetryDelay: 1, RetryLimit: 2}, map[string]jobqueue.Handler{
			"fail": func(context.Context, *jobqueue.JobContext) error { return errors.New("no luck") },
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
	})
}

func TestPermanentErrorFailsAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		type args struct{ N int }
		e := q.run(executor.Config{}, map[string]jobqueue.Handler{
			"typed": jobqueue.JSON(func(_ context.Context, _ *jobqueue.JobContext, a args) error {
				if a.N != 7 {
					return errors.New("wrong args")
				}
				return nil
			}),
		})
		bad := q.submit(jobqueue.Job{Task: "typed", Args: `{"N": "seven"}`})[0]
		good := q.submit(jobqueue.Job{Task: "typed", Args: `{"N": 7}`})[0]
		e.awaitEnd(bad, jobqueue.Failed)
		e.awaitEnd(good, jobqueue.Success)
		if job := q.get(bad); job.Retries != 0 || !strings.Contains(job.Result, "decode args") {
			t.Errorf("at the end: %+v", job)
		}
	})
}

func TestPanicFailsTheJobOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		e := q.run(executor.Config{RetryLimit: executor.Never}, map[string]jobqueue.Handler{
			"panic": func(context.Context, *jobqueue.JobContext) error { panic("boom\x00") }, "fine": nothing,
		})
		bad := q.submit(jobqueue.Job{Task: "panic"})[0]
		e.awaitEnd(bad, jobqueue.Failed)
		if job := q.get(bad); !strings.Contains(job.Result, "panic: boom") {
			t.Errorf("result %q", job.Result)
		}
		e.awaitEnd(q.submit(jobqueue.Job{Task: "fine"})[0], jobqueue.Success)
	})
}
