package check

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/internal/hookbook"
	"github.com/nextrun/nextrun/jobqueue/hooks"
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
	if err != nil || !hookbook.Any(all) {
		return nil //nolint:nilerr // a wrong configuration has been reported
	}
	h := hookCheck{report: r, hooks: all, tasks: periodic.NewTasks(db.Tasks()), known: map[string]*periodic.Task{}}
	for _, one := range hookbook.List(all) {
		if err := h.check(ctx, c, one); err != nil {
			return err
		}
	}
	return h.circles(ctx)
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

func (h *hookCheck) check(ctx context.Context, c *config.Config, one hookbook.Hook) error {
	about := "hook " + one.Name
	if argv := hookCommand(c, one); len(argv) > 0 {
		if _, err := exec.LookPath(argv[0]); err != nil && !strings.Contains(argv[0], "/") {
			h.add(levelWarning, about, "there is no program %s here", argv[0])
		}
	}
	if next, ok := hookbook.Next(one.Action); ok {
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
	case !h.hears(t.Sink) && one.Kind != hookbook.OnMissed && one.Action != hooks.None:
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
func (h *hookCheck) elsewhere(ctx context.Context, about string, one hookbook.Hook) error {
	if one.Handler == "" || one.Kind == hookbook.OnMissed || one.Action == hooks.None {
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
func hookCommand(c *config.Config, one hookbook.Hook) []string {
	set := c.Hooks
	if one.Task != "" {
		set = c.TaskHooks[one.Task]
	} else if one.Handler != "" {
		set = c.Handlers[one.Handler].Hooks
	}
	if one.Kind == hookbook.OnPing {
		return nil
	}
	h := *set.At(one.Kind)
	if h == nil || h.Command == nil {
		return nil
	}
	return h.Command.Argv
}

// circles warns of tasks that submit each other in a circle.
func (h *hookCheck) circles(ctx context.Context) error {
	if !slices.ContainsFunc(hookbook.List(h.hooks), func(one hookbook.Hook) bool { _, submits := hookbook.Next(one.Action); return submits }) {
		return nil
	}
	list, err := h.tasks.List(ctx, periodic.TaskFilter{})
	if err != nil {
		return err
	}
	next := map[string][]string{}
	for i := range list {
		for _, kind := range hookbook.Kinds() {
			one, ok := hookbook.Of(h.hooks, kind, list[i].Task, list[i].ID)
			if id, submits := hookbook.Next(one.Action); ok && submits {
				next[list[i].ID] = append(next[list[i].ID], id)
			}
		}
	}
	said := map[string]bool{}
	for i := range list {
		id := list[i].ID
		circle := circleFrom(next, []string{id}, map[string]bool{})
		if circle == nil || said[id] {
			continue
		}
		for _, one := range circle {
			said[one] = true
		}
		h.add(levelWarning, "hooks", "the tasks %s submit each other in a circle, without end", strings.Join(append(circle, id), " > "))
	}
	return nil
}

// circleFrom is a way along next from the first task of a way back to it, or nil. From
// the tasks in seen there is none.
func circleFrom(next map[string][]string, way []string, seen map[string]bool) []string {
	for _, id := range next[way[len(way)-1]] {
		if id == way[0] {
			return way
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		if circle := circleFrom(next, append(slices.Clip(way), id), seen); circle != nil {
			return circle
		}
	}
	return nil
}
