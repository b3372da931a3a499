package jobqueue

import (
	"context"
	"errors"
	"time"
)

// attempt is a job in hand, from its claim until its end is recorded. Its
// fields belong to the loop; only notes and outcome are shared, the latter
// handed over by the inbox.
type attempt struct {
	job     Job
	renewed time.Time // when the lease was last known to be renewed
	pending []dated   // lines to write, in order
	more    bool      // there is more to fetch, once pending is written
	percent int       // progress to write, or -1

	notBefore time.Time // somebody has the row locked: do not try again sooner
	ending    *Ending   // the handler has returned, or will never begin
	err       error     // what the handler returned
	gone      bool      // somebody else has the job; whatever it says is of no account

	began   time.Time // zero: not running
	round   int       // the exchange that began it
	context context.Context
	notes   *notes
	cancel  context.CancelCauseFunc // nil: not running
	lease   *time.Timer             // cancels it when its lease ends; nil: not running
}

// outcome is how a handler ended.
type outcome struct {
	attempt *attempt
	err     error
	cause   error // why its context had ended, if it had
	result  string
}

// stop ends the handler's context, if it runs.
func (a *attempt) stop(cause error) {
	if a.cancel != nil {
		a.cancel(cause)
	}
}

// renew notes that the heartbeat was renewed no sooner than at a time.
func (a *attempt) renew(at time.Time, lease time.Duration) {
	a.renewed = at
	if a.lease != nil && a.ending == nil {
		a.lease.Reset(time.Until(at.Add(lease)))
	}
}

// run calls the handler and hands over the outcome.
func (a *attempt) run(ctx context.Context, handler Handler, done func(outcome)) {
	o := outcome{attempt: a, err: errors.New("the handler ended its goroutine")}
	job := &JobContext{Job: a.job, notes: a.notes}
	defer func() {
		if p := recover(); p != nil {
			o.err = panicked(job, p)
		}
		a.lease.Stop()
		o.cause = context.Cause(ctx)
		o.result = a.notes.finish()
		a.cancel(nil)
		done(o)
	}()
	o.err = handler(ctx, job)
	if o.err != nil {
		_ = o.err.Error() // that it panics, as of a nil pointer, is the handler's fault, too
	}
}
