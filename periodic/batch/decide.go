package batch

import (
	"fmt"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/reasons"
)

// decide makes the plans of a batch.
func (c Committer) decide(b *facts) []periodic.Plan {
	plans := make([]periodic.Plan, len(b.tasks))
	for i := range b.tasks {
		t := &b.tasks[i]
		timer, err := c.timers.of(t)
		if err != nil {
			plans[i] = t.Unplannable(err)
			continue
		}
		late := ""
		if b.at(t).After(t.NextRun) {
			late = c.MissedBecause(t)
		}
		f := periodic.Facts{
			Now: b.at(t), Ended: b.ended[t.ID], Decided: b.decided[t.ID],
			Worker: c.Worker, Delay: late, Most: max(1, periodic.MaxBatchTicks/len(b.tasks)),
		}
		if p, ok := b.pending[t.ID]; ok {
			f.Pending = &p
		}
		plans[i] = t.Decide(timer, f, t.JobIDs(c.Queues[t.Sink]))
		if plans[i].Problem == "" {
			plans[i].Problem = sinkProblem(t, c.Queues[t.Sink])
		}
	}
	return plans
}

// sinkProblem is what is wrong with a task's sink; empty: nothing. queue is nil if
// the scheduler does not know the sink.
func sinkProblem(t *periodic.Task, queue periodic.Queue) string {
	switch {
	case queue == nil:
		return UnknownSink(t.Sink)
	case t.Overlap == periodic.OverlapReplace && !queue.Cancels():
		return reasons.Warning(fmt.Sprintf("overlap replace: the queue %q cannot cancel jobs, so ticks wait for the end of the job instead", t.Sink))
	}
	return ""
}

// UnknownSink is the problem of a task whose sink the scheduler does not know. The task
// keeps its plan: a scheduler that knows the sink submits its jobs.
func UnknownSink(sink periodic.Sink) string {
	return fmt.Sprintf("sink %q: the scheduler has no queue of that name; add it to the section queues of its configuration, or set sink to another queue", sink)
}
