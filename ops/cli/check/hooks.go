package check

import (
	"context"
	"errors"
	"slices"

	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

// checkHooks looks for what the hooks of the configuration name.
func (r *report) checkHooks(ctx context.Context, db *store.DB, c *config.Config) error {
	if c == nil {
		return nil
	}
	all, err := c.BuildHooks()
	if err != nil || !all.Any() {
		return nil //nolint:nilerr // a wrong configuration has been reported
	}
	h := hookCheck{report: r, tasks: periodic.NewTasks(db.Tasks())}
	for _, one := range all.List() {
		if err := h.check(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// hookCheck checks the hooks one after the other.
type hookCheck struct {
	*report
	tasks *periodic.Tasks
}

// task is the task with an id, or nil if there is none.
func (h *hookCheck) task(ctx context.Context, id string) (*periodic.Task, error) {
	t, err := h.tasks.Get(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return &t, err
}

func (h *hookCheck) check(ctx context.Context, one hooks.Hook) error {
	about := "hook " + one.Name
	if next := one.Action.Submit; next != "" {
		t, err := h.task(ctx, next)
		if err != nil {
			return err
		}
		if t == nil {
			h.add(levelWarning, about, "there is no task %q to submit; add it, or correct the id", next)
		} else if !t.Enabled {
			h.add(levelWarning, about, "the task %q is disabled, so it skips what this hook submits", next)
		}
	}
	list, err := h.about(ctx, one)
	if err != nil {
		return err
	}
	if one.Task != "" && len(list) == 0 {
		h.add(levelWarning, about, "there is no task %q; add it, or correct the id", one.Task)
	}
	hears := func(t periodic.Task) bool { return h.hears(t.Sink) }
	if len(list) > 0 && one.Kind != hooks.OnMissed && one.Action != hooks.None && !slices.ContainsFunc(list, hears) {
		h.add(levelError, about, "it hears of nothing: the jobs go to the queue %q, which does not tell how they end; "+
			"use on_missed only, and the means of that queue", list[0].Sink)
	}
	return nil
}

// about are the tasks that a hook is about; none: it is about all.
func (h *hookCheck) about(ctx context.Context, one hooks.Hook) ([]periodic.Task, error) {
	switch {
	case one.Handler != "":
		return h.tasks.List(ctx, periodic.TaskFilter{Task: one.Handler})
	case one.Task == "":
		return nil, nil
	}
	t, err := h.task(ctx, one.Task)
	if err != nil || t == nil {
		return nil, err
	}
	return []periodic.Task{*t}, nil
}

// hears reports whether nextrun hears how the jobs of a queue end. Of a queue that it does not
// know, something else is said.
func (h *hookCheck) hears(name periodic.Sink) bool {
	submitter, known := h.queues[name]
	_, tells := submitter.(sink.EndTeller)
	return name == periodic.SinkJob || name != periodic.SinkEvent && (tells || !known)
}
