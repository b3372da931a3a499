package service

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// running knows the handlers that run. Its zero value is ready.
type running struct {
	handlers sync.WaitGroup
	mu       sync.Mutex
	jobs     map[string]string // by jid: what people call it
}

// count is the middleware that notes them.
func (r *running) count(handler jobqueue.Handler) jobqueue.Handler {
	return func(ctx context.Context, job *jobqueue.JobContext) error {
		r.handlers.Add(1)
		defer r.handlers.Done()
		r.note(job.JID, cmp.Or(job.Tracker, job.Task))
		defer r.note(job.JID, "")
		return handler(ctx, job)
	}
}

// note notes the job of a handler; an empty name is its end.
func (r *running) note(jid, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.jobs == nil {
		r.jobs = map[string]string{}
	}
	if r.jobs[jid] = name; name == "" {
		delete(r.jobs, jid)
	}
}

// names are what people call the jobs that run.
func (r *running) names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Values(r.jobs))
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
