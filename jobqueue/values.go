package jobqueue

import (
	"context"
	"errors"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/traceparent"
)

// Numbers with a meaning.
const (
	// MaxMessage is the greatest length of a line, and of a result, in bytes.
	MaxMessage = 64 << 10
	// MaxLogLines is how many lines of an attempt are kept.
	MaxLogLines = 100_000
	// MaxLogBytes is how many bytes of these lines are kept.
	MaxLogBytes = 16 << 20
	// DefaultListLimit is how many jobs or lines a list has by default.
	DefaultListLimit = 100
	// PriorityLow and PriorityHigh are the priorities of jobs. Any other number is served like the nearer of the two.
	PriorityLow  = 0
	PriorityHigh = 10
	// Never means zero where 0 means the default, as in [Limits.RetryLimit].
	Never = -1
)

// The jobs of hooks, which package hooks makes. Lists and counts leave them out, unless they ask for
// one of these names.
const (
	HookHandler = "nextrun.hook"
	HookGroup   = "nextrun.hooks"
)

// Errors of [Queue], and causes of the end of a handler's context. Match with [errors.Is].
var (
	// ErrNotFound is returned for a job that does not exist.
	ErrNotFound = service.ErrNotFound
	// ErrFinal is returned by Cancel for a job that has ended.
	ErrFinal = errors.New("the job has ended already")
	// ErrNotFinal is returned by Retry for a job that has not ended.
	ErrNotFinal = errors.New("the job has not ended yet")
	// ErrForeign is returned by Cancel and Retry for a job that another kind of
	// executor has, or whose state is not one of [States].
	ErrForeign = errors.New("the job belongs to another kind of executor")
	// ErrCancelled: somebody asked for the cancellation of the job.
	ErrCancelled = errors.New("the job was cancelled")
	// ErrLeaseLost: another executor has taken the job, as it took this one for dead, or somebody has changed it in
	// the table. What the handler returns is ignored.
	ErrLeaseLost = errors.New("the lease of the job was lost")
	// ErrShutdown: the executor stops, and the grace time is over. Unless the
	// handler returns nil the job goes back to waiting.
	ErrShutdown = errors.New("the executor shuts down")
	// ErrTimeout: the job took longer than its [Timeout].
	ErrTimeout = errors.New("the job took too long")
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
