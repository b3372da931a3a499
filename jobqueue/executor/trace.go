package executor

import (
	"context"

	"github.com/nextrun/nextrun/jobqueue"
)

// Tracer makes the spans of attempts. It must be safe for concurrent use.
type Tracer interface {
	// Run begins the span of an attempt. The handler gets the context that it returns,
	// and passes the traceparent on; empty: that of the job. end is called once, when
	// the handler has returned, with its error.
	Run(ctx context.Context, job *jobqueue.Job) (of context.Context, traceparent string, end func(error))
}
