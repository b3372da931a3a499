package jobqueue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

func panicked(job *JobContext, p any) error {
	job.Logf(Error, "panic: %v\n%s", p, debug.Stack())
	return fmt.Errorf("panic: %v", p)
}

// ErrTimeout is the cause with which [Timeout] ends a context.
var ErrTimeout = errors.New("the job took too long")

// Timeout ends the context of the handlers inside it after a time. An error
// after that counts like any other: the job is tried again.
func Timeout(limit time.Duration) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, job *JobContext) error {
			cause := fmt.Errorf("%w: more than %s", ErrTimeout, limit)
			ctx, cancel := context.WithTimeoutCause(ctx, limit, cause)
			defer cancel()
			err := next(ctx, job)
			if err != nil && context.Cause(ctx) == cause && !errors.Is(err, cause) { //nolint:errorlint // this very timeout
				return fmt.Errorf("%w: %w", cause, err)
			}
			return err
		}
	}
}
