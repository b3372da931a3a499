package outcome

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue/backend"
)

func TestDecide(t *testing.T) {
	failure := errors.New("failure")
	policy := Policy{RetryLimit: 3, RetryDelay: time.Second, RetryCap: time.Minute, MaxInterrupts: 2, Lease: time.Second}
	for name, c := range map[string]struct {
		job    backend.Job
		r      Returned
		to     backend.State
		result string
	}{
		"success":                   {backend.Job{}, Returned{Result: "fine"}, backend.Success, "fine"},
		"success although asked":    {backend.Job{}, Returned{Cause: ErrCancelled}, backend.Success, ""},
		"success at shutdown":       {backend.Job{}, Returned{Cause: ErrShutdown}, backend.Success, ""},
		"error":                     {backend.Job{Retries: 2}, Returned{Err: failure}, backend.Stuck, "failure"},
		"error once too often":      {backend.Job{Retries: 3}, Returned{Err: failure}, backend.Failed, "failure"},
		"permanent error":           {backend.Job{}, Returned{Err: fmt.Errorf("x: %w", Permanent(failure))}, backend.Failed, "x: failure"},
		"cancelled":                 {backend.Job{}, Returned{Err: context.Canceled, Cause: ErrCancelled}, backend.Cancelled, "context canceled"},
		"cancelled, permanent":      {backend.Job{}, Returned{Err: Permanent(failure), Cause: ErrCancelled}, backend.Cancelled, "failure"},
		"shutdown":                  {backend.Job{Retries: 3}, Returned{Err: failure, Cause: ErrShutdown}, backend.Waiting, ""},
		"lease lost":                {backend.Job{Retries: 3, Interrupts: 1}, Returned{Err: failure, Cause: ErrLeaseLost}, backend.Waiting, ""},
		"lease lost once too often": {backend.Job{Interrupts: 2}, Returned{Err: failure, Cause: ErrLeaseLost}, backend.Failed, "interrupted: worker w sent no heartbeat for 1s, too often to try again"},
	} {
		c.job.JID, c.job.Worker = "j", "w"
		end := policy.Decide(c.job, c.r, 0.5)
		if end.JID != "j" || end.Lease != 0 || end.From != backend.Running || end.To != c.to || end.Result != c.result {
			t.Errorf("%s: %+v", name, end)
		}
		if lost := errors.Is(c.r.Cause, ErrLeaseLost); end.Interrupted != lost {
			t.Errorf("%s: interrupted %t", name, end.Interrupted)
		}
	}
}

func TestDelayDoublesUpToTheCap(t *testing.T) {
	policy := Policy{RetryDelay: time.Second, RetryCap: time.Minute}
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
		{0, Delayed(failure, 30*time.Second), 0.5, 30 * time.Second},
		{5, Delayed(failure, time.Second), 0.5, 32 * time.Second},
		{0, Delayed(failure, time.Hour), 0.5, time.Minute},
	} {
		if got := policy.delay(c.retries, c.err, c.random); got.Round(time.Millisecond) != c.want {
			t.Errorf("delay(%d, %v, %g) = %s, want %s", c.retries, c.err, c.random, got, c.want)
		}
	}
}
