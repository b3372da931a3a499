package executor

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// errPoolBusy ends an attempt whose job has waited too long for a place in the pool, before its handler is called.
var errPoolBusy = errors.New("all places of the executor are taken")

// limited returns the settings for a job with these limits.
func (c Config) limited(l jobqueue.Limits) Config {
	if l.RetryLimit != 0 {
		c.RetryLimit = l.RetryLimit
	}
	if l.RetryDelay != 0 {
		c.RetryDelay = l.RetryDelay
		c.RetryCap = max(c.RetryCap, l.RetryDelay)
	}
	return c
}

// attempts is how often a job that fails is tried at most, not counting attempts that
// lost their worker.
func (c Config) attempts() int { return max(c.RetryLimit, 0) + 1 }

// outcome is what a handler left when it returned.
type outcome struct {
	Err    error
	Cause  error // why its context had ended, if it had
	Result string
}

// decide returns the transition of a running job after its handler has returned.
// random is a number from 0 to 1.
func (c Config) decide(job jobqueue.Job, r outcome, random float64) exchange.Transition {
	end := exchange.Transition{JID: job.JID, From: jobqueue.Running}
	note := func(level jobqueue.Level, format string, args ...any) {
		end.Lines = append(end.Lines, exchange.NewLine(job.JID, level, fmt.Sprintf(format, args...)))
	}
	switch {
	case r.Err == nil:
		end.To, end.Result = jobqueue.Success, r.Result
		return end
	case errors.Is(r.Cause, jobqueue.ErrCancelled):
		end.To = jobqueue.Cancelled
		note(jobqueue.Info, "cancelled: %v", r.Err)
	case errors.Is(r.Cause, jobqueue.ErrShutdown), errors.Is(r.Cause, errPoolBusy):
		end.To = jobqueue.Waiting
		note(jobqueue.Info, "put back: %v", r.Cause)
		return end
	case jobqueue.IsPermanent(r.Err), job.Retries+1 >= c.attempts():
		end.To = jobqueue.Failed
		note(jobqueue.Error, "failed: %v", r.Err)
	default:
		end.To, end.Delay = jobqueue.Stuck, c.delay(job.Retries, r.Err, random)
		note(jobqueue.Warn, "failed, to be tried again in %s: %v", end.Delay.Round(time.Millisecond), r.Err)
	}
	end.Result = text.Clean(r.Err.Error(), jobqueue.MaxMessage)
	return end
}

// delay is how long a job is stuck before retry number retries+1: RetryDelay *
// 2^retries, at least what [jobqueue.RetryAfter] asks for, at most RetryCap, and varied
// by a tenth so that jobs which failed together do not come back together.
func (c Config) delay(retries int, err error, random float64) time.Duration {
	delay := float64(c.RetryDelay) * math.Pow(2, float64(min(retries, 62)))
	delay = min(delay, float64(c.RetryCap)) * (0.9 + 0.2*random)
	var asked service.DelayedError
	if errors.As(err, &asked) {
		delay = max(delay, float64(asked.Delay))
	}
	return time.Duration(min(delay, float64(c.RetryCap)))
}

// retryDue returns the transition of a job that is stuck or waits, and whose time has come.
func (c Config) retryDue(job jobqueue.Job) exchange.Transition {
	t := exchange.Transition{JID: job.JID, Worker: job.Worker, From: job.State, To: jobqueue.Waiting}
	if !job.Cancel.IsZero() {
		t.To, t.Result = jobqueue.Cancelled, cmp.Or(job.Result, "cancelled before it began")
	}
	return t
}

// workerDied returns the transition of a job whose worker has died at a beat.
func (c Config) workerDied(job jobqueue.Job, beat int64) exchange.Transition {
	t := exchange.Transition{JID: job.JID, Worker: job.Worker, Dead: true, Beat: beat, From: job.State, To: jobqueue.Waiting}
	t.Interrupted = job.State == jobqueue.Running
	message := "interrupted: worker " + job.Worker + " died"
	switch {
	case !job.Cancel.IsZero():
		t.To, t.Result = jobqueue.Cancelled, "cancelled; "+message
	case t.Interrupted && job.Interrupts >= max(c.MaxInterrupts, 0):
		t.To, t.Result = jobqueue.Failed, message+", too often to try again"
	}
	if t.Interrupted || t.To != jobqueue.Waiting {
		t.Lines = []exchange.Line{exchange.NewLine(job.JID, jobqueue.Warn, cmp.Or(t.Result, message))}
	}
	return t
}
