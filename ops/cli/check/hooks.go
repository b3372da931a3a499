package check

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"

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
	all, err := c.BuildHooks(r.env.Getenv)
	if err != nil || !all.Any() {
		return nil //nolint:nilerr // a wrong configuration has been reported
	}
	h := hookCheck{report: r, hooks: all, tasks: periodic.NewTasks(db.Tasks()), known: map[string]*periodic.Task{}}
	for _, one := range all.List() {
		if err := h.check(ctx, c, one); err != nil {
			return err
		}
	}
	return nil
}

// hookCheck checks the hooks one after the other.
type hookCheck struct {
	*report
	hooks hooks.Hooks
	tasks *periodic.Tasks
	known map[string]*periodic.Task // tasks that were looked up; nil: there is none
}

func (h *hookCheck) task(ctx context.Context, id string) (*periodic.Task, error) {
	if t, ok := h.known[id]; ok {
		return t, nil
	}
	t, err := h.tasks.Get(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		h.known[id] = nil
		return nil, nil
	case err != nil:
		return nil, err
	}
	h.known[id] = &t
	return &t, nil
}

func (h *hookCheck) check(ctx context.Context, c *config.Config, one hooks.Hook) error {
	about := "hook " + one.Name
	if argv := hookCommand(c, one); len(argv) > 0 {
		if _, err := exec.LookPath(argv[0]); err != nil && !strings.Contains(argv[0], "/") {
			h.add(levelWarning, about, "there is no program %s here", argv[0])
		}
	}
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
	if one.Task == "" {
		return h.elsewhere(ctx, about, one)
	}
	t, err := h.task(ctx, one.Task)
	switch {
	case err != nil:
		return err
	case t == nil:
		h.add(levelWarning, about, "there is no task %q; add it, or correct the id", one.Task)
	case !h.hears(t.Sink) && one.Kind != hooks.OnMissed && one.Action != hooks.None:
		h.add(levelError, about, "the jobs of this task go to the queue %q, which does not tell how they end; "+
			"use on_missed only, and the means of that queue", t.Sink)
	}
	return nil
}

// hears reports whether nextrun hears how the jobs of a queue end. Of a queue that it does not
// know, something else is said.
func (h *hookCheck) hears(name periodic.Sink) bool {
	submitter, known := h.queues[name]
	_, tells := submitter.(sink.EndTeller)
	return name == periodic.SinkJob || name != periodic.SinkEvent && (tells || !known)
}

// elsewhere warns of a hook of a handler that hears of no task, since the jobs of all of
// them go to other queues.
func (h *hookCheck) elsewhere(ctx context.Context, about string, one hooks.Hook) error {
	if one.Handler == "" || one.Kind == hooks.OnMissed || one.Action == hooks.None {
		return nil
	}
	list, err := h.tasks.List(ctx, periodic.TaskFilter{Task: one.Handler})
	if err != nil || len(list) == 0 {
		return err
	}
	if slices.ContainsFunc(list, func(t periodic.Task) bool { return h.hears(t.Sink) }) {
		return nil
	}
	h.add(levelWarning, about, "the jobs of all tasks of this handler go to other queues (%s), which do not tell how they end; "+
		"use on_missed, and the means of those queues", queuesOf(list))
	return nil
}

// queuesOf names the queues that tasks feed.
func queuesOf(list []periodic.Task) string {
	var names []string
	for i := range list {
		names = append(names, string(list[i].Sink))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// hookCommand is what a hook runs; none: it runs no program, or one in a directory of
// its own.
func hookCommand(c *config.Config, one hooks.Hook) []string {
	set := c.Hooks
	if one.Task != "" {
		set = c.TaskHooks[one.Task]
	} else if one.Handler != "" {
		set = c.Handlers[one.Handler].Hooks
	}
	if one.Kind == hooks.OnPing {
		return nil
	}
	h := set[one.Kind]
	if h == nil || h.Command == nil {
		return nil
	}
	return h.Command.Argv
}
