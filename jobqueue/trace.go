package jobqueue

import (
	"context"

	"github.com/nextrun/nextrun/internal/traceparent"
)

// Traced returns the same queue, whose Submit makes a span with a tracer, and gives the
// span's traceparent to jobs that have none. Package ops/tracing has a tracer. Without
// one, jobs that a handler submits get the traceparent of its context.
func (q *Queue) Traced(tracer SendTracer) *Queue { return &Queue{q.store, tracer} }

// Traceparent is the W3C traceparent that handlers and publishers of events pass on to
// what they call: that of the span, or without a tracer that of the job. Empty: there is
// none.
func Traceparent(ctx context.Context) string { return traceparent.Of(ctx) }

// trace begins the span of jobs that are about to be added, and gives them its
// traceparent, or without a tracer that of the context. What is no traceparent is
// dropped.
func (q *Queue) trace(ctx context.Context, jobs []Job) (end func(error)) {
	sent, end := traceparent.Of(ctx), func(error) {}
	if q.tracer != nil {
		sent, end = q.tracer.Send(ctx, jobSink, jobs)
	}
	for i := range jobs {
		if jobs[i].Traceparent = traceparent.Clean(jobs[i].Traceparent); jobs[i].Traceparent == "" {
			jobs[i].Traceparent = traceparent.Clean(sent)
		}
	}
	return end
}

// jobSink is the name of this queue in spans, as the column sink has it.
const jobSink = "job"

// SendTracer makes the spans of those who put jobs into queues. It must be safe for
// concurrent use, and fast: it is called inside transactions.
type SendTracer interface {
	// Send begins the span of jobs that go to a queue together. It returns the W3C
	// traceparent that the jobs carry; empty: none. end is called once: with nil if the
	// jobs were added, or with the reason why they were not.
	Send(ctx context.Context, queue string, jobs []Job) (traceparent string, end func(error))
}
