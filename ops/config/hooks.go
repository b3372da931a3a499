package config

import (
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/web"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
)

// HookSet is the hooks of a task, of a handler, or of all.
type HookSet map[hooks.Kind]*Hook

// Hook is what a hook does: one of its fields, or nothing. It names secrets;
// [Config.BuildHooks] looks them up.
type Hook struct {
	Command *handlers.CommandConfig
	Post    *webhook.Config
	Ping    bool
	Submit  string // id of a periodic task
	First   bool   // on_failure: only the first failure in a row

	inherited []string // command: environment variables that it inherits
	url       string   // of Ping
	urlEnv    string   // the environment variable with the URL
	secrets   secrets  // of Post
}

// keys are those of the hooks that a task, a handler and the file may have.
func (s *HookSet) keys(r *reader) keys {
	known := keys{}
	for _, kind := range hooks.Kinds() {
		known[string(kind)] = func(place string, n *node) {
			h := s.add(kind)
			if h.read(r, place, n); h.First && kind != hooks.OnFailure {
				r.problem(n, "%s.first: only on_failure can hear of the first failure in a row", place)
			}
		}
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
func taskHooks(r *reader, place string, n *node) (s HookSet) {
	r.mapping(n, place, s.keys(r), keys{
		string(hooks.OnPing): func(place string, n *node) { s.add(hooks.OnPing).readPing(r, place, n) },
	})
	return s
}

func (h *Hook) read(r *reader, place string, n *node) {
	forms := slices.DeleteFunc([]string{"command", "url", "url_env", "submit"}, func(key string) bool { return !n.has(key) })
	switch form := strings.Join(forms, " and "); {
	case form == "command":
		h.Command = &handlers.CommandConfig{}
		r.mapping(n, place, keys{
			"command": (*program)(&h.Command.Argv), "timeout": &h.Command.Timeout, "dir": &h.Command.Dir, "first": &h.First,
			"env": func(place string, n *node) { h.inherited = r.environment(place, n, h.Command) },
		})
		r.check(n, place, h.Command)
	case form == "submit":
		r.mapping(n, place, keys{"submit": &h.Submit, "first": &h.First})
		if h.Submit == "" {
			r.problem(n, "%s.submit must be the id of a periodic task", place)
		}
	case form == "url" || form == "url_env":
		h.Post = &webhook.Config{}
		r.mapping(n, place, h.Post, h.secrets.keys(r), keys{"url_env": &h.urlEnv, "first": &h.First})
	case n.text != "none" || n.kind != isText:
		r.problem(n, "%s must be none, or a mapping with one of command, url, url_env and submit", place)
	}
}

// readPing reads a URL, or a mapping that says where it is.
func (h *Hook) readPing(r *reader, place string, n *node) {
	if h.Ping = true; n.kind == isMapping {
		r.mapping(n, place, keys{"url_env": &h.urlEnv})
		return
	}
	if h.url = r.text(place, n); !web.GoodURL(h.url) {
		r.problem(n, "%s must be a URL such as https://hc-ping.com/UUID, or a mapping with url_env", place)
	}
}
