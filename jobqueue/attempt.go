package jobqueue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nextrun/nextrun/jobqueue/backend"
)

// attempt is a job in flight, from its claim until its end is recorded. Its
// fields belong to the loop. Only the log is shared; the handler's outcome
// arrives by the inbox.
type attempt struct {
	job     Job
	limits  Limits // of the job over those of its handler
	phase   phase
	lines   []timedLine // to write, in order
	more    bool        // the log has more, to be fetched once lines are written
	percent int         // progress to write, or -1
	held    int         // how often in a row somebody had the row locked

	end backend.Transition // phase ending: to be recorded
	err error              // phase ending: what the handler returned
	why error              // the database did not take what it has to say, last

	began  time.Time
	round  int // which claim began it
	log    *logBuffer
	ctx    context.Context
	cancel context.CancelCauseFunc
	lease  *time.Timer // cancels the handler when the lease ends
}

// phase is where an attempt is in its life: running -> ending -> recorded, or
// lost from either.
type phase int

const (
	running phase = iota // the handler runs
	ending               // the handler has returned, and its end is not recorded yet
	lost                 // another worker has the job: nothing is recorded any more
)

// step is what to do with an attempt.
type step int

const (
	keep       step = iota // nothing: go on
	stop                   // somebody asked to cancel the job: end the handler
	turnCancel             // the same, after the handler has returned: record that
	settle                 // the end is recorded
	lose                   // another worker has the job, or may have it
)

// after returns the next step of an attempt, given the status of its job in the
// database. It is called after a heartbeat, or if the end could not be recorded.
func (a *attempt) after(s backend.JobStatus, worker string) step {
	ours := s.Worker == worker && s.State == Running
	switch {
	case a.phase == lost:
		return keep
	case a.phase == ending && s.State == a.end.To && (s.Worker == worker || s.Worker == ""):
		return settle // it was committed, although the reply was lost
	case !ours:
		return lose
	case a.phase == running && s.Cancel:
		return stop
	case a.phase == ending && s.Cancel && !a.end.To.Final():
		return turnCancel
	}
	return keep
}

// unwritten reports whether there is something to write.
func (a *attempt) unwritten() bool {
	return a.phase == ending || a.phase == running && (len(a.lines) > 0 || a.percent >= 0)
}

// fetch takes what the handler has logged. Unless last, it does nothing while earlier
// lines are unwritten, so that a handler blocks while the database is down.
func (a *attempt) fetch(last bool) {
	if a.more = len(a.lines) > 0 && !last; a.more {
		return
	}
	lines, percent := a.log.fetch()
	a.lines = append(a.lines, lines...)
	if percent >= 0 {
		a.percent = percent
	}
}

// written drops what a request has written.
func (a *attempt) written() {
	a.lines, a.percent, a.held, a.why = nil, -1, 0, nil
	if a.more {
		a.fetch(false)
	}
}

// renewed extends the lease after a heartbeat that began at the time at.
func (a *attempt) renewed(at time.Time, lease time.Duration) {
	if a.phase == running {
		a.lease.Reset(time.Until(at.Add(lease)))
	}
}

// outcome is how a handler ended.
type outcome struct {
	attempt *attempt
	err     error
	cause   error // why its context had ended, if it had
	result  string
}

// run calls the handler and hands over the outcome.
func (a *attempt) run(handler Handler, done func(outcome)) {
	o := outcome{attempt: a, err: errors.New("the handler ended its goroutine")}
	job := &JobContext{Job: a.job, log: a.log}
	defer func() {
		if p := recover(); p != nil {
			o.err = panicked(job, p)
		}
		a.lease.Stop()
		o.cause = context.Cause(a.ctx)
		o.result = a.log.finish(a.job.JID)
		a.cancel(nil)
		done(o)
	}()
	if a.limits.Timeout > 0 {
		handler = Timeout(a.limits.Timeout)(handler)
	}
	o.err = handler(a.ctx, job)
	if o.err != nil {
		_ = o.err.Error() // if this panics, as for a nil pointer, the handler is to blame
	}
}

// limited returns the settings for a job with these limits, its own before those of
// its handler.
func (c Config) limited(l Limits) Config {
	if l.RetryLimit != 0 {
		c.RetryLimit = l.RetryLimit
	}
	if l.RetryDelay != 0 {
		c.RetryDelay = l.RetryDelay
		c.RetryCap = max(c.RetryCap, l.RetryDelay)
	}
	return c
}

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
