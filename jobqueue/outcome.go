package jobqueue

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nextrun/nextrun/jobqueue/backend"
)

// decide returns the transition of a running job after its handler has returned.
// random is a number from 0 to 1.
func (c Config) decide(job Job, o outcome, random float64) backend.Transition {
	end := backend.Transition{JID: job.JID, From: Running}
	note := func(level Level, format string, args ...any) {
		end.Lines = append(end.Lines, backend.NewLine(job.JID, level, fmt.Sprintf(format, args...)))
	}
	switch {
	case o.err == nil:
		end.To, end.Result = Success, o.result
		return end
	case errors.Is(o.cause, ErrLeaseLost):
		job.State = Running
		end = c.judge(job)
		end.Lease = 0 // the worker itself ends it, whatever the heartbeat
		return end
	case errors.Is(o.cause, ErrCancelled):
		end.To = Cancelled
		note(Info, "cancelled: %v", o.err)
	case errors.Is(o.cause, ErrShutdown):
		end.To = Waiting
		note(Info, "put back: the executor shuts down")
		return end
	case IsPermanent(o.err), job.Retries >= max(c.RetryLimit, 0):
		end.To = Failed
		note(Error, "failed: %v", o.err)
	default:
		end.To, end.Delay = Stuck, c.delay(job.Retries, o.err, random)
		note(Warn, "failed, to be tried again in %s: %v", end.Delay.Round(time.Millisecond), o.err)
	}
	end.Result = backend.CleanMessage(o.err.Error())
	return end
}

// delay is how long a job is stuck before retry number retries+1: RetryDelay *
// 2^retries, at least what [RetryAfter] asks for, at most RetryCap, and varied
// by a tenth so that jobs which failed together do not come back together.
func (c Config) delay(retries int, err error, random float64) time.Duration {
	delay := float64(c.RetryDelay) * math.Pow(2, float64(min(retries, 62)))
	delay = min(delay, float64(c.RetryCap)) * (0.9 + 0.2*random)
	var asked delayedError
	if errors.As(err, &asked) {
		delay = max(delay, float64(asked.delay))
	}
	return time.Duration(min(delay, float64(c.RetryCap)))
}
