package executor_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

type greeting struct {
	To    string `json:"to"`
	Times int    `json:"times"`
}

// What is submitted as a value arrives as that value, with the options applied, and not
// if the transaction is rolled back.
func TestSubmitTakesAValue(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		want := greeting{To: "Ada \"L\"", Times: 3}
		got := make(chan greeting, 1)
		e := q.run(executor.Config{}, map[string]jobqueue.Handler{
			"greet": jobqueue.JSON(func(_ context.Context, _ *jobqueue.JobContext, args greeting) error { got <- args; return nil }),
		})
		tx, err := q.SQL.Begin()
		if err != nil {
			t.Fatal(err)
		}
		gone, err := jobqueue.Submit(q.ctx, q.queue.In(tx), "greet", want)
		if err != nil || tx.Rollback() != nil {
			t.Fatal(err)
		}
		jid, err := jobqueue.Submit(q.ctx, q.queue, "greet", want, jobqueue.InGroup("g"), jobqueue.Tracked("t"),
			func(job *jobqueue.Job) { job.Limits.RetryLimit = executor.Never })
		if err != nil {
			t.Fatal(err)
		}
		if args := receive(q, got, "the job"); args != want {
			t.Errorf("got %+v, want %+v", args, want)
		}
		e.awaitEnd(jid, jobqueue.Success)
		if job := q.get(jid); job.Group != "g" || job.Tracker != "t" || job.Limits.RetryLimit != executor.Never {
			t.Errorf("job %+v", job)
		}
		if _, err := q.queue.Get(q.ctx, gone); err == nil {
			t.Error("the job of the transaction that was rolled back is there")
		}
		bad := q.submit(jobqueue.Job{Task: "greet", Args: `{"times": "seven"}`})[0]
		e.awaitEnd(bad, jobqueue.Failed)
		if job := q.get(bad); job.Retries != 0 || !strings.Contains(job.Result, "decode args") {
			t.Errorf("with args that are no greeting: %+v", job)
		}
		at := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
		later, err := jobqueue.Submit(q.ctx, q.queue, "greet", want, jobqueue.At(at))
		if err != nil || !q.get(later).Retry.Equal(at) {
			t.Errorf("%+v, %v; it should wait for %s", q.get(later), err, at)
		}
		if _, err := jobqueue.Submit(q.ctx, q.queue, "greet", func() {}); err == nil || !strings.Contains(err.Error(), "greet") {
			t.Errorf("a function as args: %v", err)
		}
	})
}
