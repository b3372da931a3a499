package executor_test

import (
	"context"
	"fmt"
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

// A context without an executor keeps what the handler says; the zero value drops it.
func TestJobContextWithoutAnExecutor(t *testing.T) {
	t.Parallel()
	const lines = 10_000 // more than an executor lets wait for the database
	for name, job := range map[string]*jobqueue.JobContext{"new": jobqueue.NewJobContext(jobqueue.Job{JID: "j"}), "zero": {}} {
		for i := range lines {
			job.Logf(jobqueue.Info, "line %d", i)
		}
		job.SetProgress(200)
		job.SetResult("done")
		said := job.Record()
		if name == "zero" {
			if len(said.Lines) > 0 {
				t.Errorf("the zero value has %d lines", len(said.Lines))
			}
			continue
		}
		last := said.Lines[len(said.Lines)-1]
		if len(said.Lines) != lines || last.Message != fmt.Sprintf("line %d", lines-1) || last.Counter != lines || said.Progress != 100 || said.Result != "done" {
			t.Errorf("%d lines, the last %+v, %d, %q", len(said.Lines), last, said.Progress, said.Result)
		}
	}
}

// The middlewares work in tests, too.
func TestMiddlewareWithoutAnExecutor(t *testing.T) {
	t.Parallel()
	slow := func(ctx context.Context, _ *jobqueue.JobContext) error { <-ctx.Done(); return ctx.Err() }
	h := jobqueue.Timeout(time.Millisecond)(slow)
	if err := h(t.Context(), jobqueue.NewJobContext(jobqueue.Job{})); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("got %v", err)
	}
}
