package check

import (
	"context"

	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// checkHooks looks for what the hooks of the configuration name.
func (r *report) checkHooks(context.Context) error {
	if r.config == nil {
		return nil
	}
	all, err := r.config.BuildHooks()
	if err != nil {
		return nil //nolint:nilerr // a wrong configuration has been reported
	}
	for _, one := range all.List() {
		r.checkHook("hook "+one.Name, one)
	}
	return nil
}

func (r *report) checkHook(about string, one hooks.Hook) {
	if next := one.Action.Submit; next != "" {
		if t := r.task(next); t == nil {
			r.warn(about, "there is no task %q to submit; add it, or correct the id", next)
		} else if !t.Enabled {
			r.warn(about, "the task %q is disabled, so it skips what this hook submits", next)
		}
	}
	if one.Task != "" && r.task(one.Task) == nil {
		r.warn(about, "there is no task %q; add it, or correct the id", one.Task)
	}
	if one.Kind == hooks.OnMissed || one.Action == hooks.None {
		return
	}
	var deaf *periodic.Task // one of its tasks, of whose jobs it does not hear
	for i := range r.tasks {
		switch t := &r.tasks[i]; {
		case one.Handler+one.Task == "", one.Handler != "" && t.Task != one.Handler, one.Task != "" && t.ID != one.Task:
		case r.hears(t.Sink):
			return
		default:
			deaf = t
		}
	}
	if deaf != nil {
		r.add(levelError, about, "it hears of nothing: the jobs go to the queue %q, which does not tell how they end; "+
			"use on_missed only, and the means of that queue", deaf.Sink)
	}
}

// task is the task with an id, or nil if there is none.
func (r *report) task(id string) *periodic.Task {
	for i := range r.tasks {
		if r.tasks[i].ID == id {
			return &r.tasks[i]
		}
	}
	return nil
}

// hears reports whether nextrun hears how the jobs of a queue end. Of a queue that it does not
// know, something else is said.
func (r *report) hears(name periodic.Sink) bool {
	submitter, known := r.queues[name]
	_, tells := submitter.(sink.EndTeller)
	return name == periodic.SinkJob || name != periodic.SinkEvent && (tells || !known)
}
