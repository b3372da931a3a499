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

var errBroken = errors.New("broken")

func broken(context.Context, *jobqueue.JobContext) error { return errBroken }

// The limits of a job come before those of its handler, and these before those of the
// executor.
func TestLimitsOfTheNearestCount(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		soon := jobqueue.Limits{RetryDelay: time.Millisecond}
		e := q.executor(executor.Config{RetryLimit: 2, RetryDelay: time.Millisecond}, nil)
		e.Register("plain", broken)
		e.Register("payment", broken, jobqueue.Limits{RetryLimit: executor.Never})
		e.Register("eager", broken, jobqueue.Limits{RetryLimit: 3}, soon)
		e.start()
		for name, c := range map[string]struct {
			job     jobqueue.Job
			retries int
		}{
			"executor's":             {jobqueue.Job{Task: "plain"}, 2},
			"handler's":              {jobqueue.Job{Task: "payment"}, 0},
			"handler's three":        {jobqueue.Job{Task: "eager"}, 3},
			"job's never":            {jobqueue.Job{Task: "eager", Limits: jobqueue.Limits{RetryLimit: executor.Never}}, 0},
			"job's, of a payment":    {jobqueue.Job{Task: "payment", Limits: jobqueue.Limits{RetryLimit: 1}}, 1},
			"job's, of the executor": {jobqueue.Job{Task: "plain", Limits: jobqueue.Limits{RetryLimit: 1}}, 1},
		} {
			jid := q.submit(c.job)[0]
			e.awaitEnd(jid, jobqueue.Failed)
			if job := q.get(jid); job.Retries != c.retries || job.Limits != c.job.Limits {
				t.Errorf("%s: %d retries, want %d; limits %+v", name, job.Retries, c.retries, job.Limits)
			}
			if n := e.count(func(event executor.Event) bool {
				return event.Kind == executor.EventEnded && event.Job.JID == jid && event.Attempts == c.retries+1
			}); n != c.retries+1 {
				t.Errorf("%s: %d events name %d attempts, want all of its attempts", name, n, c.retries+1)
			}
		}
	})
}

// A timeout of the job replaces those of the handler and around it, also a
// shorter one, and its error is not repeated.
func TestTimeouts(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		q.sql("INSERT INTO job (jid, task, timeout) VALUES ('slow', 'slow', 1), ('patient', 'patient', 3600), ('limited', 'limited', NULL), ('wrapped', 'wrapped', NULL)")
		slow := func(ctx context.Context, _ *jobqueue.JobContext) error { <-ctx.Done(); return ctx.Err() }
		e := q.executor(executor.Config{RetryLimit: executor.Never}, nil)
		e.Register("slow", jobqueue.Timeout(time.Hour, slow), jobqueue.Limits{Timeout: time.Hour})
		e.Register("patient", jobqueue.Timeout(time.Millisecond, func(ctx context.Context, _ *jobqueue.JobContext) error {
			if at, _ := ctx.Deadline(); time.Until(at) < time.Minute {
				return errors.New("the timeout of the handler counts")
			}
			return nil
		}), jobqueue.Limits{Timeout: time.Second})
		e.Register("limited", slow, jobqueue.Limits{Timeout: time.Millisecond})
		e.Register("wrapped", jobqueue.Timeout(time.Millisecond, slow))
		e.start()
		e.awaitEnd("patient", jobqueue.Success)
		for jid, timeout := range map[string]string{"slow": "1s", "limited": "1ms", "wrapped": "1ms"} {
			e.awaitEnd(jid, jobqueue.Failed)
			if result := q.get(jid).Result; strings.Count(result, jobqueue.ErrTimeout.Error()) != 1 || !strings.Contains(result, timeout) {
				t.Errorf("%s: result %q", jid, result)
			}
		}
	})
}

func TestLimitsOutOfBounds(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		for name, l := range map[string]jobqueue.Limits{
			"RetryLimit": {RetryLimit: -2},
			"RetryDelay": {RetryDelay: 1500 * time.Millisecond},
			"Timeout":    {Timeout: -time.Second},
		} {
			if _, err := q.queue.Submit(q.ctx, jobqueue.Job{Task: "x", Tracker: "t", Limits: l}); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s of a job: %v", name, err)
			}
		}
		for column, value := range map[string]string{"retry_limit": "-1", "retry_delay": "0", "timeout": "31536001"} {
			if _, err := q.SQL.Exec("INSERT INTO job (task, " + column + ") VALUES ('x', " + value + ")"); err == nil {
				t.Errorf("%s may be %s", column, value)
			}
		}
	})
}

func TestConfigNamesEveryBadField(t *testing.T) {
	for field, cfg := range map[string]executor.Config{
		"Name is \"\"":        {},
		"Name is \"a/b\"":     {Name: "a/b"},
		"Name is \"nnn":       {Name: strings.Repeat("n", 201)},
		"PoolSize is -1":      {Name: "n", PoolSize: -1},
		"PoolSize is 10001":   {Name: "n", PoolSize: 10_001},
		"High is -1":          {Name: "n", High: -1},
		"Low is 1001":         {Name: "n", Low: 1001},
		"PollInterval is -1s": {Name: "n", PollInterval: -time.Second},
		"RetryDelay is 2h":    {Name: "n", RetryDelay: 2 * time.Hour},
		"RetryLimit is -2":    {Name: "n", RetryLimit: -2},
		"RetryCap is 9000h":   {Name: "n", RetryCap: 9000 * time.Hour},
		"MaxInterrupts is -2": {Name: "n", MaxInterrupts: -2},
	} {
		_, err := executor.New(nil, cfg)
		if err == nil || !strings.Contains(err.Error(), "executor.Config."+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := executor.New(nil, executor.Config{Name: strings.Repeat("n", 200)}); err != nil {
		t.Error(err)
	}
}
