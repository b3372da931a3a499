package config

import (
	"cmp"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
)

// HookSet is the hooks of a task, of a handler, or of all.
type HookSet map[hooks.Kind]*Hook

// Hook is what a hook does: one of its fields, or nothing.
type Hook struct {
	Command *handlers.CommandConfig
	Post    *webhook.Config
	Ping    string // a URL
	Submit  string // id of a periodic task
	First   bool   // on_failure: only the first failure in a row
}

// keys are those of the hooks that a task, a handler and the file may have.
func (s *HookSet) keys(r *reader) keys {
	known := keys{}
	for _, kind := range hooks.Kinds() {
		known[string(kind)] = func(place string, n *yaml.Node) { s.add(kind).read(r, place, n, kind) }
	}
	return known
}

func (s *HookSet) add(kind hooks.Kind) *Hook {
	if *s == nil {
		*s = HookSet{}
	}
	(*s)[kind] = &Hook{}
	return (*s)[kind]
}

// taskHooks reads the hooks of a task, which may have a ping beside the others.
func taskHooks(r *reader, place string, n *yaml.Node) (s HookSet) {
	r.mapping(n, place, s.keys(r), keys{
		string(hooks.OnPing): func(place string, n *yaml.Node) { s.add(hooks.OnPing).Ping = r.secret(place, n) },
	})
	return s
}

func (h *Hook) read(r *reader, place string, n *yaml.Node, kind hooks.Kind) {
	if n.Value == "none" {
		return
	}
	more := keys{}
	if kind == hooks.OnFailure {
		more["first"] = &h.First
	}
	switch r.oneOf(n, place, "command", "url", "submit") {
	case "command":
		h.Command = &handlers.CommandConfig{}
		r.mapping(n, place, h.Command, more, keys{"env": (*environment)(&h.Command.Env)})
	case "url":
		h.Post = &webhook.Config{}
		r.mapping(n, place, h.Post, more)
	case "submit":
		if r.mapping(n, place, more, keys{"submit": &h.Submit}); h.Submit == "" {
			r.problem(n, "%s.submit must be the id of a periodic task", place)
		}
	}
}

// BuildHooks makes the hooks.
func (c *Config) BuildHooks() (hooks.Hooks, error) {
	var errs []error
	build := func(place string, of func(*Config) HookSet) hooks.Set {
		made := hooks.Set{}
		for kind := range of(c) {
			action, err := c.liveHook(place+string(kind), kind, of)
			made[kind], errs = action, append(errs, err)
		}
		return made
	}
	built := hooks.Hooks{Handlers: map[string]hooks.Set{}, Tasks: map[string]hooks.Set{}}
	built.All = build("", func(c *Config) HookSet { return c.Hooks })
	for name := range c.Handlers {
		built.Handlers[name] = build("handlers."+name+".", func(c *Config) HookSet { return c.Handlers[name].Hooks })
	}
	for id := range c.TaskHooks {
		built.Tasks[id] = build("tasks."+id+".", func(c *Config) HookSet { return c.TaskHooks[id] })
	}
	if err := cmp.Or(errs...); err != nil {
		return hooks.Hooks{}, err
	}
	return built, built.Validate()
}

func (h *Hook) build(c *Config) (action *hooks.Action, err error) {
	switch {
	case h.Command != nil:
		action, err = hooks.Command(c.command(h.Command))
	case h.Post != nil:
		action, err = hooks.Post(*h.Post)
	case h.Ping != "":
		action, err = hooks.Ping(h.Ping)
	case h.Submit != "":
		action = &hooks.Action{Submit: h.Submit}
	default:
		return hooks.None, nil
	}
	if h.First && err == nil {
		action.First = true
	}
	return action, err
}
