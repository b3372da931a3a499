package config

import (
	"cmp"
	"fmt"

	"github.com/nextrun/nextrun/jobqueue/hooks"
)

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

func (b *hookBuilder) set(place string, list HookSet) hooks.Set {
	made := hooks.Set{}
	for kind, h := range list {
		action, err := b.make(h)
		if err != nil && b.err == nil {
			b.err = fmt.Errorf("%s: %s%s: %w", b.path, place, kind, err)
		}
		if made[kind] = action; h.First && err == nil {
			action.First = true
		}
	}
	return made
}

func (b *hookBuilder) make(h *Hook) (*hooks.Action, error) {
	address := ""
	if h.urlEnv != "" {
		if address = b.env(h.urlEnv); address == "" {
			return nil, fmt.Errorf("the environment variable %s for the URL is not set", h.urlEnv)
		}
	}
	switch {
	case h.Command != nil:
		return hooks.Command(inheriting(h.Command, h.inherited, b.without, b.env))
	case h.Post != nil:
		return b.post(h, address)
	case h.Ping:
		return hooks.Ping(cmp.Or(address, h.url))
	case h.Submit != "":
		return &hooks.Action{Submit: h.Submit}, nil
	}
	return hooks.None, nil
}

func (b *hookBuilder) post(h *Hook, address string) (*hooks.Action, error) {
	post := *h.Post
	if address != "" {
		post.URL = address
	}
	var err error
	if post.Secrets, err = h.secrets.lookUp(b.env); err != nil {
		return nil, err
	}
	if post.Headers, err = headers(post.Headers, h.secrets.headerEnv, b.env); err != nil {
		return nil, err
	}
	return hooks.Post(post)
}
