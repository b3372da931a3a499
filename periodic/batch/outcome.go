package batch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// Outcome is what a committed transaction did.
type Outcome struct {
	Kept  []*periodic.Plan          // of the tasks that advanced, in the order of the batch
	Plans map[string]*periodic.Plan // the same by the task's id
	Ticks []periodic.Tick
	Took  time.Duration // from the first write to the end of the transaction
}

// Moved reports whether a batch decided a tick or changed a plan.
func (o *Outcome) Moved() bool {
	return len(o.Ticks) > 0 || slices.ContainsFunc(o.Kept, func(p *periodic.Plan) bool {
		return !p.Due.Equal(p.Task.Due) || !p.NextRun.Equal(p.Task.NextRun)
	})
}

// lacksJob reports whether a tick gets no job although it should. A tick that its
// policy skips is not one.
func lacksJob(tick periodic.Tick) bool {
	return tick.Decision == periodic.Missed || tick.Decision == periodic.Late || tick.Cause == periodic.CauseRefused
}

// recordTicks settles the skips of the plans that were written ahead and adds the new ticks. It
// returns those that were recorded.
func recordTicks(ctx context.Context, tx Tx, plans []*periodic.Plan) ([]periodic.Tick, error) {
	settled, added := []periodic.Tick(nil), make([]periodic.Tick, 0, len(plans))
	for _, p := range plans {
		settled = append(settled, p.Settled...)
		added = append(added, p.Ticks...)
	}
	if len(settled)+len(added) == 0 {
		return nil, nil
	}
	keys, err := tx.Record(ctx, settled, added)
	ticks := added
	if len(settled) > 0 { // rarely
		ticks = slices.Concat(settled, added)
	}
	if err != nil || len(keys) == len(ticks) {
		return ticks, err
	}
	have := make(map[periodic.TickKey]bool, len(keys))
	for _, k := range keys {
		have[periodic.TickKey{TaskID: k.TaskID, Due: k.Due.UTC()}] = true
	}
	return slices.DeleteFunc(ticks, func(t periodic.Tick) bool { return !have[periodic.TickKey{TaskID: t.TaskID, Due: t.Due.UTC()}] }), nil
}

// LaterError says, by the task's id, why queues do not take jobs now, so that nothing of those tasks may be
// committed. An empty reason is a job of the task that is not final, for whose end the task waits.
type LaterError map[string]string

func (e LaterError) Error() string {
	return fmt.Sprintf("the jobs of %d tasks cannot be submitted now", len(e))
}

// SinkError is an error of a statement of a queue, which may be to blame for it.
type SinkError struct {
	Sink periodic.Sink
	Err  error
}

func (e *SinkError) Error() string { return e.Err.Error() }

func (e *SinkError) Unwrap() error { return e.Err }

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
