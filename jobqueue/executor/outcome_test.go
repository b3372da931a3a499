package executor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

func TestDecide(t *testing.T) {
	failure := errors.New("failure")
	policy := Config{RetryLimit: 3, RetryDelay: time.Second, RetryCap: time.Minute, MaxInterrupts: 2}
	for name, c := range map[string]struct {
		job    jobqueue.Job
		r      outcome
		to     jobqueue.State
		result string
	}{
		"success":                {jobqueue.Job{}, outcome{Result: "fine"}, jobqueue.Success, "fine"},
		"success although asked": {jobqueue.Job{}, outcome{Cause: jobqueue.ErrCancelled}, jobqueue.Success, ""},
		"success at shutdown":    {jobqueue.Job{}, outcome{Cause: jobqueue.ErrShutdown}, jobqueue.Success, ""},
		"error":                  {jobqueue.Job{Retries: 2}, outcome{Err: failure}, jobqueue.Stuck, "failure"},
		"error once too often":   {jobqueue.Job{Retries: 3}, outcome{Err: failure}, jobqueue.Failed, "failure"},
		"permanent error":        {jobqueue.Job{}, outcome{Err: fmt.Errorf("x: %w", jobqueue.Permanent(failure))}, jobqueue.Failed, "x: failure"},
		"cancelled":              {jobqueue.Job{}, outcome{Err: context.Canceled, Cause: jobqueue.ErrCancelled}, jobqueue.Cancelled, "context canceled"},
		"cancelled, permanent":   {jobqueue.Job{}, outcome{Err: jobqueue.Permanent(failure), Cause: jobqueue.ErrCancelled}, jobqueue.Cancelled, "failure"},
		"shutdown":               {jobqueue.Job{Retries: 3}, outcome{Err: failure, Cause: jobqueue.ErrShutdown}, jobqueue.Waiting, ""},
	} {
		c.job.JID, c.job.Worker = "j", "w"
		end := policy.decide(c.job, c.r, 0.5)
		if end.JID != "j" || end.Dead || end.Interrupted || end.From != jobqueue.Running || end.To != c.to || end.Result != c.result {
			t.Errorf("%s: %+v", name, end)
		}
	}
}

func TestDelayDoublesUpToTheCap(t *testing.T) {
	policy := Config{RetryDelay: time.Second, RetryCap: time.Minute}
	failure := errors.New("failure")
	for _, c := range []struct {
		retries int
		err     error
		random  float64
		want    time.Duration
	}{
		{0, failure, 0.5, time.Second},
		{3, failure, 0.5, 8 * time.Second},
		{3, failure, 0, 7200 * time.Millisecond},
		{3, failure, 1, 8800 * time.Millisecond},
		{9, failure, 0.5, time.Minute},
		{9, failure, 1, time.Minute},
		{1000, failure, 0.5, time.Minute},
		{0, jobqueue.RetryAfter(failure, 30*time.Second), 0.5, 30 * time.Second},
		{5, jobqueue.RetryAfter(failure, time.Second), 0.5, 32 * time.Second},
		{0, jobqueue.RetryAfter(failure, time.Hour), 0.5, time.Minute},
	} {
		if got := policy.delay(c.retries, c.err, c.random); got.Round(time.Millisecond) != c.want {
			t.Errorf("delay(%d, %v, %g) = %s, want %s", c.retries, c.err, c.random, got, c.want)
		}
	}
}
