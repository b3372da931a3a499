package hooks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Kind is a kind of hook, as the configuration file names it.
type Kind string

// The kinds.
const (
	OnFailure   Kind = "on_failure"   // a job has failed for good
	OnSuccess   Kind = "on_success"   // a job has succeeded
	OnMissed    Kind = "on_missed"    // a tick got no job
	OnRecovered Kind = "on_recovered" // a job of a task has succeeded after others had failed
	OnPaused    Kind = "on_paused"    // a task is paused, since so many of its jobs have failed in a row
	OnPing      Kind = "ping"         // a job of the task succeeds, or fails for good; only for a task, and beside the others
)

// Kinds lists the kinds that every [Set] may have.
func Kinds() []Kind {
	return []Kind{OnFailure, OnSuccess, OnMissed, OnRecovered, OnPaused}
}

// Set says what to do on each occasion. Where it has no action, the next more
// general Set decides; [None] silences.
type Set map[Kind]*Action

// Hooks says what to do for which jobs. The most specific [Set] that has an action
// decides: that of the task, then that of the handler, then All.
type Hooks struct {
	All      Set
	Handlers map[string]Set // by the name of the handler: Job.Task
	Tasks    map[string]Set // by the id of the periodic task: Job.Tracker
}

// Hook is one of the hooks, and its place in the configuration.
type Hook struct {
	Name          string
	Kind          Kind
	Handler, Task string // whose it is; both empty: it is for all
	Action        *Action
}

// Any reports whether there is anything to do.
func (h Hooks) Any() bool {
	return slices.ContainsFunc(h.List(), func(one Hook) bool { return one.Action != None })
}

// List lists all hooks: those of All, then of the handlers and the tasks by name.
func (h Hooks) List() []Hook {
	var list []Hook
	add := func(place, handler, task string, s Set) {
		for _, k := range append(Kinds(), OnPing) {
			if a := s[k]; a != nil {
				list = append(list, Hook{place + string(k), k, handler, task, a})
			}
		}
	}
	add("", "", "", h.All)
	for _, name := range slices.Sorted(maps.Keys(h.Handlers)) {
		add("handlers."+name+".", name, "", h.Handlers[name])
	}
	for _, id := range slices.Sorted(maps.Keys(h.Tasks)) {
		add("tasks."+id+".", "", id, h.Tasks[id])
	}
	return list
}

// Of is the hook that decides for the jobs of a handler that belong to a task, and
// false if there is none or it is [None]. Task is empty for jobs of no task.
func (h Hooks) Of(k Kind, handler, task string) (Hook, bool) {
	found := Hook{Name: string(k), Kind: k, Action: h.All[k]}
	if a := h.Handlers[handler][k]; a != nil {
		found = Hook{"handlers." + handler + "." + string(k), k, handler, "", a}
	}
	if a := h.Tasks[task][k]; a != nil && task != "" {
		found = Hook{"tasks." + task + "." + string(k), k, "", task, a}
	}
	return found, found.Action != nil && found.Action != None
}

// Validate returns an error that names each hook which cannot be.
func (h Hooks) Validate() error {
	var problems []error
	for _, one := range h.List() {
		if one.Kind == OnPing && one.Task == "" {
			problems = append(problems, fmt.Errorf("%s: only a task has a ping", one.Name))
		}
		if one.Action.do == nil && one.Action.Submit == "" {
			problems = append(problems, fmt.Errorf("%s: name the task to submit", one.Name))
		}
		if one.Action.First && one.Kind != OnFailure {
			problems = append(problems, fmt.Errorf("%s: only on_failure can hear of the first failure", one.Name))
		}
	}
	return errors.Join(problems...)
}
