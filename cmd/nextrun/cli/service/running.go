package service

import (
	"context"
	"sync"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// running counts the handlers that run.
type running struct{ handlers sync.WaitGroup }

// count is the middleware that counts.
func (r *running) count(handler jobqueue.Handler) jobqueue.Handler {
	return func(ctx context.Context, job *jobqueue.JobContext) error {
		r.handlers.Add(1)
		defer r.handlers.Done()
		return handler(ctx, job)
	}
}

// wait waits until none runs any more, but not for longer than that.
func (r *running) wait(most time.Duration) {
	ended := make(chan struct{})
	go func() {
		r.handlers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(most):
	}
}
