package jobqueue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// Handler runs a job. It must return soon after ctx has ended; [context.Cause]
// then says why: [ErrCancelled], [ErrLeaseLost] or [ErrShutdown]. An error
// sends the job to stuck, from where it is tried again, or to failed once
// there were enough retries or the error is [Permanent].
//
// A job may be run more than once: its worker may die, or lose the database,
// after the work was done and before that was recorded. Handlers should
// therefore be idempotent; [JobContext.JID] is the same in every attempt. What a handler writes
// to the database of the queue it can write once: see [CompleteTx].
type Handler func(ctx context.Context, job *JobContext) error

// JSON makes a handler of a function that takes the job's args as a value: they
// are decoded from JSON, and args that do not fit fail the job at once.
func JSON[T any](h func(ctx context.Context, job *JobContext, args T) error) Handler {
	return func(ctx context.Context, job *JobContext) error {
		var args T
		if err := json.Unmarshal([]byte(job.Args), &args); err != nil {
			return Permanent(fmt.Errorf("decode args: %w", err))
		}
		return h(ctx, job, args)
	}
}

// Permanent marks an error that no retry would help: the job goes straight to
// failed. Of an outbox.Publisher it says that the receiver refuses the event. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanentError{err}
}

// IsPermanent reports whether err is, or wraps, an error that [Permanent] made.
func IsPermanent(err error) bool {
	var p permanentError
	return errors.As(err, &p)
}

type permanentError struct{ error }

// Unwrap returns what the handler returned.
func (e permanentError) Unwrap() error { return e.error }

// RetryAfter marks an error after which the job, or the event of an outbox.Publisher, is to be tried again no sooner
// than after delay: a job at most after Config.RetryCap of its executor, an event after Config.RetryMax of its relay, or an
// hour if that is longer. RetryAfter(nil, ...) is nil.
func RetryAfter(err error, delay time.Duration) error {
	if err == nil {
		return nil
	}
	return service.DelayedError{Err: err, Delay: delay}
}

// Timeout returns a handler that ends the context of another one after a time. 0 or less: it is that handler.
// A job with a timeout of its own ([Limits.Timeout]) has that instead. An error after that counts
// like any other: the job is tried again.
func Timeout(limit time.Duration, h Handler) Handler {
	if limit <= 0 {
		return h
	}
	return func(ctx context.Context, job *JobContext) error {
		limit := cmp.Or(job.Limits.Timeout, limit)
		cause := fmt.Errorf("%w: more than %s", ErrTimeout, limit)
		ctx, cancel := context.WithTimeoutCause(ctx, limit, cause)
		defer cancel()
		err := h(ctx, job)
		if err != nil && context.Cause(ctx) == cause && !errors.Is(err, ErrTimeout) { //nolint:errorlint // this very timeout
			return fmt.Errorf("%w: %w", cause, err)
		}
		return err
	}
}
