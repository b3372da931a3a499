package executor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

func TestSubmitFillsInDefaults(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		due := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		full := jobqueue.Job{
			JID: "own id", Task: "ü", Group: "g", Args: `{"a": "ß\u0001"}`, Subject: "s", Submitter: "me", Priority: 10,
			Tracker: "tr", Single: true, Due: due,
		}
		q.submit(full)
		job := q.get(jid)
		if job.Group != "default" || job.Args != "{}" || job.Submitter != "nextrun" || job.State != jobqueue.Waiting || job.Tracker != "" {
			t.Errorf("%+v", job)
		}
		got := q.get("own id")
		full.Submitted, full.State = got.Submitted, jobqueue.Waiting
		if got != full {
			t.Errorf("got  %+v\nwant %+v", got, full)
		}
		if since := time.Since(got.Submitted); since < -time.Minute || since > time.Minute {
			t.Errorf("submitted %s ago", since)
		}
	})
}

func TestSubmitRefusesBadFields(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		for field, job := range map[string]jobqueue.Job{
			"Task": {}, "Tracker": {Task: "t", Single: true}, "Group": {Task: "t", Group: strings.Repeat("g", 255)},
			"Subject": {Task: "t", Subject: "a\x00b"}, "Args": {Task: "t", Args: "\xff"},
		} {
			if _, err := q.queue.Submit(q.ctx, jobqueue.Job{Task: "fine"}, job); err == nil || !strings.Contains(err.Error(), "Job."+field) {
				t.Errorf("%s: %v", field, err)
			}
		}
		if n := q.value("SELECT count(*) FROM job"); n != "0" {
			t.Errorf("%s jobs were submitted", n)
		}
	})
}

func TestSingleJobsDoNotOverlap(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		single := jobqueue.Job{Task: "t", Tracker: "nightly", Single: true}
		first := q.submit(single)[0]
		var overlap *jobqueue.OverlapError
		if _, err := q.queue.Submit(q.ctx, jobqueue.Job{Task: "t"}, single); !errors.As(err, &overlap) || overlap.JID != first {
			t.Fatalf("submitted beside: %v", err)
		}
		if n := q.value("SELECT count(*) FROM job"); n != "1" {
			t.Errorf("%s jobs, want 1: all or none", n)
		}
		if _, err := q.queue.Cancel(q.ctx, first); err != nil {
			t.Fatal(err)
		}
		second := q.submit(single)[0]
		if err := q.queue.Retry(q.ctx, first); !errors.As(err, &overlap) || overlap.JID != second {
			t.Fatalf("retried beside: %v", err)
		}
		if job := q.get(first); job.State != jobqueue.Cancelled {
			t.Errorf("%+v", job)
		}
		if err := q.queue.Retry(q.ctx, second); !errors.Is(err, jobqueue.ErrNotFinal) {
			t.Errorf("retried while pending: %v", err)
		}
		if _, err := q.queue.Cancel(q.ctx, second); err != nil {
			t.Fatal(err)
		}
		if err := q.queue.Retry(q.ctx, first); err != nil {
			t.Error(err)
		}
	})
}

func TestListFilters(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		q.submit(jobqueue.Job{JID: "1", Task: "t", Group: "a"})
		q.submit(jobqueue.Job{JID: "2", Task: "t", Group: "b", Tracker: "x"})
		q.submit(jobqueue.Job{JID: "3", Task: "u", Group: "b", Args: "large"})
		q.submit(jobqueue.Job{JID: "0", Task: "v", Group: "c"})
		q.sql("UPDATE job SET state = 'success', worker = 'w-w@1' WHERE jid = '0'")
		q.sql("UPDATE job SET state = 'running', worker = 'w@1' WHERE jid = '2'")
		q.sql("UPDATE job SET state = 'failed', worker = 'w2/1' WHERE jid = '1'")
		for _, c := range []struct {
			filter jobqueue.Filter
			want   string
		}{
			{jobqueue.Filter{Task: "v", Worker: "w w"}, "0"},
			{jobqueue.Filter{Worker: "w-w"}, "0"},
			{jobqueue.Filter{Worker: "w-w@1"}, "0"},
			{jobqueue.Filter{}, "0 3 2 1"},
			{jobqueue.Filter{Limit: 3}, "0 3 2"},
			{jobqueue.Filter{Group: "b"}, "3 2"},
			{jobqueue.Filter{Task: "t"}, "2 1"},
			{jobqueue.Filter{Tracker: "x"}, "2"},
			{jobqueue.Filter{Worker: "w"}, "2"},
			{jobqueue.Filter{Worker: "w2/1"}, "1"},
			{jobqueue.Filter{States: []jobqueue.State{jobqueue.Running, jobqueue.Failed}}, "2 1"},
			{jobqueue.Filter{States: []jobqueue.State{jobqueue.Waiting}, Group: "a"}, ""},
		} {
			jobs, err := q.queue.List(q.ctx, c.filter)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, job := range jobs {
				got = append(got, job.JID)
				if job.Args != "" {
					t.Error("args were read")
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%+v: %s, want %s", c.filter, got, c.want)
			}
		}
	})
}

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
