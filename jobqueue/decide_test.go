package jobqueue

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	failure := errors.New("failure")
	cfg := Config{RetryLimit: 3, RetryDelay: time.Second, RetryCap: time.Minute, MaxInterrupts: 2, Lease: time.Second}
	for name, c := range map[string]struct {
		job    Job
		o      outcome
		to     State
		result string
	}{
		"success":                   {Job{}, outcome{result: "fine"}, Success, "fine"},
		"success although asked":    {Job{}, outcome{cause: ErrCancelled}, Success, ""},
		"success at shutdown":       {Job{}, outcome{cause: ErrShutdown}, Success, ""},
		"error":                     {Job{Retries: 2}, outcome{err: failure}, Stuck, "failure"},
		"error once too often":      {Job{Retries: 3}, outcome{err: failure}, Failed, "failure"},
		"permanent error":           {Job{}, outcome{err: fmt.Errorf("x: %w", Permanent(failure))}, Failed, "x: failure"},
		"cancelled":                 {Job{}, outcome{err: context.Canceled, cause: ErrCancelled}, Cancelled, "context canceled"},
		"cancelled, permanent":      {Job{}, outcome{err: Permanent(failure), cause: ErrCancelled}, Cancelled, "failure"},
		"shutdown":                  {Job{Retries: 3}, outcome{err: failure, cause: ErrShutdown}, Waiting, ""},
		"lease lost":                {Job{Retries: 3, Interrupts: 1}, outcome{err: failure, cause: ErrLeaseLost}, Waiting, ""},
		"lease lost once too often": {Job{Interrupts: 2}, outcome{err: failure, cause: ErrLeaseLost}, Failed, "interrupted: worker w sent no heartbeat for 1s, too often to try again"},
	} {
		c.job.JID, c.job.Worker = "j", "w"
		end := cfg.decide(c.job, c.o, 0.5)
		if end.JID != "j" || end.Lease != 0 || end.From != Running || end.To != c.to || end.Result != c.result {
			t.Errorf("%s: %+v", name, end)
		}
		if lost := errors.Is(c.o.cause, ErrLeaseLost); end.Interrupted != lost {
			t.Errorf("%s: interrupted %t", name, end.Interrupted)
		}
	}
}

func TestDelayDoublesUpToTheCap(t *testing.T) {
	cfg := Config{RetryDelay: time.Second, RetryCap: time.Minute}
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
		{0, RetryAfter(failure, 30*time.Second), 0.5, 30 * time.Second},
		{5, RetryAfter(failure, time.Second), 0.5, 32 * time.Second},
		{0, RetryAfter(failure, time.Hour), 0.5, time.Minute},
	} {
		if got := cfg.delay(c.retries, c.err, c.random); got.Round(time.Millisecond) != c.want {
			t.Errorf("delay(%d, %v, %g) = %s, want %s", c.retries, c.err, c.random, got, c.want)
		}
	}
}
