package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// attempt is a job in flight, from its claim until its end is recorded. Its fields belong to the loop,
// but until the inbox reports that the handler has returned, its goroutine reads job, limits and the
// context, and writes began. The log, admission and calledComplete are safe for both.
type attempt struct {
	job     jobqueue.Job
	limits  jobqueue.Limits // of the job over those of its handler
	phase   phase
	lines   []logLine // to write, in order
	percent int       // progress to write, or -1

	end exchange.Transition // phase returned: to be recorded
	err error               // phase returned: what the handler returned
	why error               // the database did not take what it has to say, last

	arrived        time.Time // when it was answered
	admission      admission
	began          time.Time // when the handler was called
	log            *jobLog
	calledComplete atomic.Bool // the handler has called CompleteTx: the database tells whether that was committed
	ctx            context.Context
	cancel         context.CancelCauseFunc
}

// phase is where an attempt is in its life: running -> returned -> gone, once its end is recorded,
// or lost from either.
type phase int

const (
	running  phase = iota // claimed: the handler runs, or waits for a place
	returned              // the handler has returned, and its end is not recorded yet
	lost                  // another worker has the job: nothing is recorded any more
)

// step is what to do with an attempt.
type step int

const (
	keep       step = iota // nothing: go on
	stop                   // somebody asked to cancel the job: end the handler
	turnCancel             // the same, after the handler has returned: record that
	recorded               // the end is recorded: forget the attempt
	lose                   // another worker has the job, or may have it
)

// after returns the next step of an attempt, given the status of its job in the
// database. It is called after a comparison, or if the end could not be recorded.
func (a *attempt) after(s exchange.JobStatus, worker string) step {
	ours := s.Worker == worker && s.State == jobqueue.Running
	completed := a.calledComplete.Load() && s.Worker == worker && s.State == jobqueue.Success
	switch {
	case a.phase == lost, a.phase == running && completed:
		return keep
	case a.phase == returned && completed:
		return recorded
	case a.phase == returned && s.State == a.end.To && (s.Worker == worker || s.Worker == ""):
		return recorded // it was committed, although the reply was lost
	case !ours:
		return lose
	case a.phase == running && s.Cancel:
		return stop
	case a.phase == returned && s.Cancel && !a.end.To.Final():
		return turnCancel
	}
	return keep
}

// unwritten reports whether there is something to write.
func (a *attempt) unwritten() bool {
	return a.phase == returned || a.phase == running && (len(a.lines) > 0 || a.percent >= 0)
}

// fetch takes what the handler has logged.
func (a *attempt) fetch() {
	lines, percent := a.log.fetch()
	a.lines = append(a.lines, lines...)
	if percent >= 0 {
		a.percent = percent
	}
}

// next are the lines of the next transaction.
func (a *attempt) next() []logLine {
	bytes := 0
	for i, line := range a.lines {
		if bytes += len(line.Message); i == maxLines || i > 0 && bytes > maxBytes {
			return a.lines[:i]
		}
	}
	return a.lines
}

// dropWritten drops what a request has written: so many lines, and a percentage or -1.
func (a *attempt) dropWritten(lines, percent int) {
	a.lines, a.why = a.lines[min(lines, len(a.lines)):], nil
	if a.percent == percent {
		a.percent = -1
	}
}

// handlerReturn says that the handler of an attempt has returned, and what.
type handlerReturn struct {
	attempt     *attempt
	traceparent string // that of the attempt
	outcome
}

// errNotBegun is what an attempt leaves that was cancelled before it had a place in the pool.
var errNotBegun = errors.New("the job had not begun")

// run calls the handler, as soon as there is a place in the pool, and reports what it returned.
func (a *attempt) run(f *flight, handler handler) {
	tracer, tell := f.e.cfg.Tracer, f.e.inbox.handlerReturned
	r := handlerReturn{attempt: a, traceparent: a.job.Traceparent}
	if !a.enter(f.places) {
		a.log.finish()
		a.cancel(nil)
		r.Err, r.Cause = errNotBegun, context.Cause(a.ctx)
		tell(r)
		return
	}
	a.began = time.Now()
	r.Err = errors.New("the handler ended its goroutine")
	ctx, end := a.ctx, func(error) {}
	defer func() {
		if p := recover(); p != nil {
			a.log.Log(jobqueue.Error, fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
			r.Err = fmt.Errorf("panic: %v", p)
		}
		r.Cause = context.Cause(a.ctx)
		if a.calledComplete.Load() && r.Err != nil {
			a.log.Log(jobqueue.Warn, fmt.Sprintf("after CompleteTx the handler returned: %v", r.Err))
		}
		r.Result = a.log.finish()
		a.cancel(nil)
		end(r.Err)
		<-f.places
		tell(r)
	}()
	if tracer != nil {
		var own string
		ctx, own, end = tracer.Run(ctx, &a.job)
		r.traceparent = cmp.Or(traceparent.Clean(own), r.traceparent)
	}
	run := jobqueue.Timeout(a.limits.Timeout, handler.run)
	r.Err = run(traceparent.With(ctx, r.traceparent), jobqueue.Report(a.job, reporter{a.log, a, f.e}))
	if r.Err != nil {
		_ = r.Err.Error() // if this panics, as for a nil pointer, the handler is to blame
	}
}

// reporter is what a handler says about its job.
type reporter struct {
	*jobLog
	attempt *attempt
	e       *Executor
}

// errNotCommitted is what an attempt leaves whose handler has completed its job, returned nil, and
// not committed that.
var errNotCommitted = errors.New("the handler called CompleteTx, and did not commit its transaction")

// Complete implements [jobqueue.Reporter].
func (r reporter) Complete(ctx context.Context, tx jobqueue.DBTX) error {
	job := &r.attempt.job
	r.attempt.calledComplete.Store(true) // before it can be committed
	return r.e.store.Complete(ctx, tx, exchange.Completion{
		End: exchange.Transition{
			JID: job.JID, Worker: r.e.worker, From: jobqueue.Running, To: jobqueue.Success, Result: r.said(), Traceparent: traceparent.Of(ctx),
		},
		Started: job.Started, Hooks: r.e.cfg.Hooks,
	})
}
