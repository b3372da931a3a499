package batch

import (
	"context"

	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/task"
)

// spans are those of one submit transaction: one for each queue that gets jobs.
type spans struct {
	tracer jobqueue.SendTracer // nil: none
	ends   []func(error)
}

// begin begins the span of jobs, and gives them its traceparent.
func (s *spans) begin(ctx context.Context, sink task.Sink, jobs []jobqueue.Job) {
	if s.tracer == nil {
		return
	}
	sent, end := s.tracer.Send(ctx, string(sink), jobs)
	s.ends = append(s.ends, end)
	sent = traceparent.Clean(sent)
	for i := range jobs {
		jobs[i].Traceparent = sent
	}
}

// end ends the spans once the transaction has ended.
func (s *spans) end(err error) {
	for _, end := range s.ends {
		end(err)
	}
}
