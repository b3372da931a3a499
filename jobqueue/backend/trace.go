package backend

import "context"

// SendTracer makes the spans of those who put jobs into queues. It must be safe for
// concurrent use, and fast: it is called inside transactions.
type SendTracer interface {
	// Send begins the span of jobs that go to a queue together. It returns the W3C
	// traceparent that the jobs carry; empty: none. end is called once: with nil if the
	// jobs were added, or with the reason why they were not.
	Send(ctx context.Context, queue string, jobs []Job) (traceparent string, end func(error))
}

// RunTracer makes the spans of attempts. It must be safe for concurrent use.
type RunTracer interface {
	// Run begins the span of an attempt. The handler gets the context that it returns,
	// and passes the traceparent on; empty: that of the job. end is called once, when
	// the handler has returned, with its error.
	Run(ctx context.Context, job *Job) (of context.Context, traceparent string, end func(error))
}
