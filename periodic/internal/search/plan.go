package search

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nextrun/nextrun/periodic/task"
)

// refusedPlan is a plan without the jobs that the database refuses; its ticks and its
// problem say so.
func refusedPlan(p task.Plan, cause error) task.Plan {
	p.Problem = fmt.Sprintf("the tick could not be submitted: %v", cause)
	p.Cancel = ""
	skip := func(ticks []task.Tick) []task.Tick {
		ticks = slices.Clone(ticks)
		for i := range ticks {
			if ticks[i].Decision == task.Submitted {
				ticks[i].Decision, ticks[i].Reason, ticks[i].JID = task.Skipped, p.Problem, ""
			}
		}
		return ticks
	}
	p.Ticks, p.Settled = skip(p.Ticks), skip(p.Settled)
	return p
}

// sinkOf is the sink that a plan uses; empty if it submits and cancels nothing.
func sinkOf(p *task.Plan) task.Sink {
	submits := func(t task.Tick) bool { return t.Decision == task.Submitted }
	if p.Cancel != "" || slices.ContainsFunc(p.Ticks, submits) || slices.ContainsFunc(p.Settled, submits) {
		return p.Task.Sink
	}
	return ""
}

func sinksOf(plans []task.Plan) []task.Sink {
	sinks := map[task.Sink]bool{}
	for i := range plans {
		if sink := sinkOf(&plans[i]); sink != "" {
			sinks[sink] = true
		}
	}
	return slices.Sorted(maps.Keys(sinks))
}
