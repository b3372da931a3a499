package batch

import (
	"context"

	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// spans are those of one submit transaction: one for each queue that gets jobs.
type spans struct {
	tracer jobqueue.SendTracer // nil: none
	ends   []func(error)
}

// begin begins the span of jobs, and gives them its traceparent.
func (s *spans) begin(sink periodic.Sink, jobs []jobqueue.Job) {
	if s.tracer == nil {
		return
	}
	// A batch belongs to no trace of the program, which would never end.
	sent, end := s.tracer.Send(context.Background(), string(sink), jobs)
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
