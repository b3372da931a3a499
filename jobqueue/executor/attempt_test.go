package executor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

func TestWhatFollowsForAnAttempt(t *testing.T) {
	const me, other = "w/1", "w/2"
	for _, c := range []struct {
		what   string
		phase  phase
		to     jobqueue.State // phase returned
		state  jobqueue.State // of the job now
		worker string
		cancel bool
		want   step
	}{
		{"it runs", running, "", jobqueue.Running, me, false, keep},
		{"it is to be cancelled", running, "", jobqueue.Running, me, true, stop},
		{"another worker has it", running, "", jobqueue.Running, other, false, lose},
		{"another worker is to cancel it", running, "", jobqueue.Running, other, true, lose},
		{"it waits again", running, "", jobqueue.Waiting, "", false, lose},
		{"somebody ended it", running, "", jobqueue.Cancelled, me, false, lose},
		{"somebody set it back", running, "", jobqueue.Scheduled, me, false, lose},
		{"it is gone", running, "", "", "", false, lose},

		{"its end is not recorded", returned, jobqueue.Success, jobqueue.Running, me, false, keep},
		{"its end was recorded, but the reply was lost", returned, jobqueue.Success, jobqueue.Success, me, false, recorded},
		{"it was unclaimed, but the reply was lost", returned, jobqueue.Waiting, jobqueue.Waiting, "", false, recorded},
		{"it is stuck, but the reply was lost", returned, jobqueue.Stuck, jobqueue.Stuck, me, false, recorded},
		{"it was unclaimed, and another has it", returned, jobqueue.Waiting, jobqueue.Running, other, false, lose},
		{"another has ended it", returned, jobqueue.Success, jobqueue.Success, other, false, lose},
		{"it failed, and is to be cancelled", returned, jobqueue.Stuck, jobqueue.Running, me, true, turnCancel},
		{"it is to be unclaimed, and to be cancelled", returned, jobqueue.Waiting, jobqueue.Running, me, true, turnCancel},
		{"it succeeded, and is to be cancelled", returned, jobqueue.Success, jobqueue.Running, me, true, keep},
		{"it failed for good, and is to be cancelled", returned, jobqueue.Failed, jobqueue.Running, me, true, keep},
		{"it ended, and is gone", returned, jobqueue.Success, "", "", false, lose},

		{"it was lost before", lost, "", jobqueue.Running, other, false, keep},
		{"it was lost, and came back", lost, "", jobqueue.Running, me, true, keep},
	} {
		a := &attempt{phase: c.phase, end: exchange.Transition{From: jobqueue.Running, To: c.to}}
		if got := a.after(exchange.JobStatus{State: c.state, Worker: c.worker, Cancel: c.cancel}, me); got != c.want {
			t.Errorf("%s: step %d, want %d", c.what, got, c.want)
		}
	}
}

// An attempt that is withdrawn at the moment at which a place gets free ends for the reason of
// the withdrawal: for another one its job would count as failed.
func TestWithdrawnAttemptEndsForThatReason(t *testing.T) {
	t.Parallel()
	a := &attempt{}
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	if !a.admission.withdraw() { // the loop, which is about to cancel
		t.Fatal("the attempt cannot be withdrawn")
	}
	entered := make(chan bool)
	go func() { entered <- a.enter(make(chan struct{}, 1)) }()
	select {
	case <-entered:
		t.Error("the attempt ended before there was a reason")
	case <-time.After(20 * time.Millisecond):
		a.cancel(errPoolBusy)
		if <-entered {
			t.Error("the attempt begins although it was withdrawn")
		}
	}
	if cause := context.Cause(a.ctx); cause != nil && !errors.Is(cause, errPoolBusy) {
		t.Errorf("the attempt ended since: %v", cause)
	}
}

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
