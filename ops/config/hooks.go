package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
)

// HookSet is the hooks of a task, of a handler, or of all. nil: the file has none there.
type HookSet struct {
	OnFailure, OnSuccess, OnMissed, OnRecovered, OnPaused, Ping *Hook
}

// At is where the set has the hook of a kind; nil: it has none of that kind.
func (s *HookSet) At(k hooks.Kind) **Hook {
	return map[hooks.Kind]**Hook{
		hooks.OnFailure: &s.OnFailure, hooks.OnSuccess: &s.OnSuccess, hooks.OnMissed: &s.OnMissed, hooks.OnRecovered: &s.OnRecovered,
		hooks.OnPaused: &s.OnPaused, hooks.OnPing: &s.Ping,
	}[k]
}

// Hook is what a hook does: one of its fields, or nothing. It names secrets;
// [Config.BuildHooks] looks them up.
type Hook struct {
	Command *handlers.CommandConfig
	Post    *webhook.Config
	Ping    *hooks.PingConfig
	Submit  string // id of a periodic task
	First   bool   // on_failure: only the first failure in a row

	passEnv   []string          // command: environment variables that it inherits
	urlEnv    string            // the environment variable with the URL
	headerEnv map[string]string // url: environment variables with the values of headers
	secrets   []secret          // url: keys of the signature
}

// hookReader reads hooks, wherever they stand.
type hookReader struct{ *reader }

// withHooks adds the keys of a set of hooks.
func (r hookReader) withHooks(s *HookSet, known keys) keys {
	for _, kind := range hooks.Kinds() {
		known[string(kind)] = func(place string, n *yaml.Node) {
			h := r.hook(place, n)
			if *s.At(kind) = h; h.First && kind != hooks.OnFailure {
				r.problem(n, "%s.first: only on_failure can hear of the first failure in a row", place)
			}
		}
	}
	return known
}

// task reads the hooks of a task.
func (r hookReader) task(place string, n *yaml.Node) HookSet {
	var s HookSet
	r.mapping(n, place, r.withHooks(&s, keys{
		string(hooks.OnPing): func(place string, n *yaml.Node) { s.Ping = r.ping(place, n) },
	}))
	return s
}

const hookForms = "none, or a mapping with one of command, url, url_env and submit"

func (r hookReader) hook(place string, n *yaml.Node) *Hook {
	h := &Hook{}
	if resolve(n).Kind == yaml.ScalarNode {
		if resolve(n).Value != "none" {
			r.problem(n, "%s must be %s", place, hookForms)
		}
		return h
	}
	forms := slices.DeleteFunc([]string{"command", "url", "url_env", "submit"}, func(key string) bool { return !has(n, key) })
	if len(forms) != 1 {
		r.problem(n, "%s must be %s", place, hookForms)
		return h
	}
	switch forms[0] {
	case "command":
		r.command(place, n, h)
	case "submit":
		r.mapping(n, place, keys{"submit": &h.Submit, "first": &h.First})
		if h.Submit == "" {
			r.problem(n, "%s.submit must be the id of a periodic task", place)
		}
	default:
		r.post(place, n, h)
	}
	return h
}

func (r hookReader) command(place string, n *yaml.Node, h *Hook) {
	c := &handlers.CommandConfig{}
	h.Command = c
	r.mapping(n, place, keys{
		"command": func(place string, v *yaml.Node) { c.Argv = handlerReader(r).command(place, v) },
		"timeout": &c.Timeout,
		"dir":     &c.Dir,
		"first":   &h.First,
		"env":     func(place string, v *yaml.Node) { h.passEnv = handlerReader(r).environment(place, v, &c.Env) },
	})
	r.check(n, place, c)
}

func (r hookReader) post(place string, n *yaml.Node, h *Hook) {
	c := &webhook.Config{}
	h.Post = c
	r.mapping(n, place, keys{
		"url":         &c.URL,
		"url_env":     &h.urlEnv,
		"timeout":     &c.Timeout,
		"first":       &h.First,
		"headers":     &c.Headers,
		"header_env":  &h.headerEnv,
		"secret_env":  r.secretsInto(&h.secrets, func(s string) secret { return secret{env: s} }),
		"secret_file": r.secretsInto(&h.secrets, func(s string) secret { return secret{file: s} }),
	})
	r.check(n, place, c)
}

// ping reads a URL, or a mapping that says where it is.
func (r hookReader) ping(place string, n *yaml.Node) *Hook {
	c := &hooks.PingConfig{}
	h := &Hook{Ping: c}
	if resolve(n).Kind == yaml.ScalarNode {
		if c.URL = r.text(place, n); c.Validate() != nil {
			r.problem(n, "%s must be a URL such as https://hc-ping.com/UUID", place)
		}
		return h
	}
	r.mapping(n, place, keys{"url": &c.URL, "url_env": &h.urlEnv, "timeout": &c.Timeout})
	if has(n, "url") == has(n, "url_env") {
		r.problem(n, "%s needs one of url and url_env", place)
	}
	r.check(n, place, c)
	return h
}

// BuildHooks makes the hooks. env looks up the environment variables with secrets. No
// error shows one, or a URL.
func (c *Config) BuildHooks(env func(string) string) (hooks.Hooks, error) {
	b := hookBuilder{path: c.Path, env: env, without: c.secretVariables()}
	built := hooks.Hooks{All: b.set("", c.Hooks), Handlers: map[string]hooks.Set{}, Tasks: map[string]hooks.Set{}}
	for name, h := range c.Handlers {
		built.Handlers[name] = b.set("handlers."+name+".", h.Hooks)
	}
	for id, s := range c.TaskHooks {
		built.Tasks[id] = b.set("tasks."+id+".", s)
	}
	if b.err != nil {
		return hooks.Hooks{}, b.err
	}
	return built, built.Validate()
}

// hookBuilder makes hooks, until an error.
type hookBuilder struct {
	path    string
	env     func(string) string
	without []string
	err     error
}

func (b *hookBuilder) set(place string, s HookSet) hooks.Set {
	return hooks.Set{
		OnFailure:   b.action(place+string(hooks.OnFailure), s.OnFailure),
		OnSuccess:   b.action(place+string(hooks.OnSuccess), s.OnSuccess),
		OnMissed:    b.action(place+string(hooks.OnMissed), s.OnMissed),
		OnRecovered: b.action(place+string(hooks.OnRecovered), s.OnRecovered),
		OnPaused:    b.action(place+string(hooks.OnPaused), s.OnPaused),
		Ping:        b.action(place+string(hooks.OnPing), s.Ping),
	}
}

func (b *hookBuilder) action(place string, h *Hook) hooks.Action {
	if h == nil || b.err != nil {
		return nil
	}
	action, err := b.make(h)
	if err != nil {
		b.err = fmt.Errorf("%s: %s: %w", b.path, place, err)
		return nil
	}
	if h.First {
		return hooks.First(action)
	}
	return action
}

func (b *hookBuilder) make(h *Hook) (hooks.Action, error) {
	address := ""
	if h.urlEnv != "" {
		if address = b.env(h.urlEnv); address == "" {
			return nil, fmt.Errorf("the environment variable %s for the URL is not set", h.urlEnv)
		}
	}
	switch {
	case h.Command != nil:
		command := *h.Command
		command.Without = b.without
		for _, name := range h.passEnv {
			if value := b.env(name); value != "" {
				command.Env = append(slices.Clip(command.Env), name+"="+value)
			}
		}
		return hooks.Command(command)
	case h.Post != nil:
		post := *h.Post
		if address != "" {
			post.URL = address
		}
		var err error
		if post.Secrets, err = lookUp(h.secrets, b.env); err != nil {
			return nil, err
		}
		if post.Headers, err = headers(post.Headers, h.headerEnv, b.env); err != nil {
			return nil, err
		}
		return hooks.Post(post)
	case h.Ping != nil:
		ping := *h.Ping
		if address != "" {
			ping.URL = address
		}
		return hooks.Ping(ping)
	case h.Submit != "":
		return hooks.Submit(h.Submit), nil
	}
	return hooks.None, nil
}

// secretVariables are the names of environment variables of the hooks of a set.
func (s HookSet) secretVariables() (names []string) {
	for _, h := range []*Hook{s.OnFailure, s.OnSuccess, s.OnMissed, s.OnRecovered, s.OnPaused, s.Ping} {
		if h == nil {
			continue
		}
		if h.urlEnv != "" {
			names = append(names, h.urlEnv)
		}
		for _, variable := range h.headerEnv {
			names = append(names, variable)
		}
		for _, one := range h.secrets {
			names = append(names, one.env)
		}
	}
	return names
}
