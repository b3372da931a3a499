package hookbook

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/hooks"
)

// Kind is a kind of hook, as the configuration file names it.
type Kind string

// The kinds.
const (
	OnFailure Kind = "on_failure" // a job has failed for good
	OnSuccess Kind = "on_success" // a job has succeeded
	OnMissed  Kind = "on_missed"  // a tick got no job
	OnPing    Kind = "ping"       // a job of the task begins, succeeds, or fails for good

	OnRecovered Kind = "on_recovered" // a job of a task has succeeded after others had failed
	OnPaused    Kind = "on_paused"    // a task is paused, since so many of its jobs have failed in a row
)

// Kinds lists the kinds that every [hooks.Set] may have.
func Kinds() []Kind {
	return []Kind{OnFailure, OnSuccess, OnMissed, OnRecovered, OnPaused}
}

// actionOf is what a set says for a kind; nil: nothing.
func actionOf(s hooks.Set, k Kind) hooks.Action {
	return map[Kind]hooks.Action{OnFailure: s.OnFailure, OnSuccess: s.OnSuccess, OnMissed: s.OnMissed, OnPing: s.Ping, OnRecovered: s.OnRecovered,
		OnPaused: s.OnPaused}[k]
}

// Any reports whether there is anything to do.
func Any(h hooks.Hooks) bool {
	return slices.ContainsFunc(List(h), func(one Hook) bool { return one.Action != hooks.None })
}

// Hook is one entry of [hooks.Hooks].
type Hook struct {
	Name    string // its place in the configuration, such as tasks.backup.on_failure
	Kind    Kind
	Handler string       // for the jobs of this handler; empty: not for one
	Task    string       // for the jobs of this task; empty: not for one
	Action  hooks.Action // may be [hooks.None]
}

// hears reports whether the hook hears of an end that turned a task so.
func (h Hook) hears(turned jobqueue.Turned) bool {
	switch once := isFirst(h.Action); {
	case h.Kind == OnRecovered:
		return turned.Has(jobqueue.Recovered)
	case h.Kind == OnPaused:
		return turned.Has(jobqueue.Paused)
	case h.Kind == OnFailure && once:
		return turned.Has(jobqueue.Failing)
	}
	return true
}

// List lists all hooks: those of All, then of the handlers and the tasks by name.
func List(h hooks.Hooks) []Hook {
	var list []Hook
	add := func(handler, task string, s hooks.Set) {
		for _, k := range append(Kinds(), OnPing) {
			if a := actionOf(s, k); a != nil {
				list = append(list, Hook{placeOf(handler, task, k), k, handler, task, a})
			}
		}
	}
	add("", "", h.All)
	for _, name := range slices.Sorted(maps.Keys(h.Handlers)) {
		add(name, "", h.Handlers[name])
	}
	for _, id := range slices.Sorted(maps.Keys(h.Tasks)) {
		add("", id, h.Tasks[id])
	}
	return list
}

// Of is the hook that decides for the jobs of a handler that belong to a task, and
// false if there is none or it is [hooks.None]. Task is empty for jobs of no task.
func Of(h hooks.Hooks, k Kind, handler, task string) (Hook, bool) {
	found := Hook{Kind: k}
	if s, ok := h.Tasks[task]; ok && actionOf(s, k) != nil && task != "" {
		found.Task, found.Action = task, actionOf(s, k)
	} else if s, ok := h.Handlers[handler]; ok && actionOf(s, k) != nil {
		found.Handler, found.Action = handler, actionOf(s, k)
	} else {
		found.Action = actionOf(h.All, k)
	}
	found.Name = placeOf(found.Handler, found.Task, k)
	return found, found.Action != nil && found.Action != hooks.None
}

// placeOf is the place of a hook in the configuration file.
func placeOf(handler, task string, k Kind) string {
	switch {
	case task != "":
		return "tasks." + task + "." + string(k)
	case handler != "":
		return "handlers." + handler + "." + string(k)
	}
	return string(k)
}

// Validate returns an error that names each hook which cannot be.
func Validate(h hooks.Hooks) error {
	var problems []error
	for _, one := range List(h) {
		if one.Kind == OnPing && one.Task == "" {
			problems = append(problems, fmt.Errorf("%s: only a task has a ping", one.Name))
		}
		if next, ok := Next(one.Action); ok && next == "" {
			problems = append(problems, fmt.Errorf("%s: name the task to submit", one.Name))
		}
		if isFirst(one.Action) && one.Kind != OnFailure {
			problems = append(problems, fmt.Errorf("%s: only on_failure can hear of the first failure", one.Name))
		}
	}
	return errors.Join(problems...)
}

// What the actions of [hooks.First] and [hooks.Submit] tell.
type (
	first  interface{ Always() hooks.Action }
	submit interface{ NextTask() string }
)

func isFirst(a hooks.Action) bool {
	_, is := a.(first)
	return is
}

// Next is the id of the task that an action submits; false: it is another action.
func Next(a hooks.Action) (task string, ok bool) {
	if once, is := a.(first); is {
		a = once.Always()
	}
	if s, is := a.(submit); is {
		return s.NextTask(), true
	}
	return "", false
}
