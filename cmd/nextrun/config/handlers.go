package config

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/jobqueue/handlers"
)

// handler reads what runs the jobs of a task. Some keys are for commands only.
func (r *reader) handler(place string, n *yaml.Node) Handler {
	isCommand, isHTTP := has(n, "command"), has(n, "http")
	switch {
	case isCommand && isHTTP:
		r.problem(n, "%s has both command and http; use one", place)
		return Handler{}
	case !isCommand && !isHTTP:
		r.neither(place, n)
		return Handler{}
	case isHTTP:
		h := Handler{HTTP: &handlers.HTTPConfig{Method: http.MethodPost}}
		r.mapping(n, place, keys{
			"http":    func(place string, v *yaml.Node) { r.http(place, v, &h) },
			"timeout": r.durationInto(&h.HTTP.Timeout, time.Millisecond, longest),
		})
		return h
	}
	c := &handlers.CommandConfig{}
	h := Handler{Command: c}
	r.mapping(n, place, keys{
		"command":    func(place string, v *yaml.Node) { c.Argv = r.command(place, v) },
		"timeout":    r.durationInto(&c.Timeout, time.Millisecond, longest),
		"kill_grace": r.durationInto(&c.KillGrace, time.Millisecond, longest),
		"dir":        func(place string, v *yaml.Node) { c.Dir = r.text(place, v) },
		"env":        func(place string, v *yaml.Node) { r.environment(place, v, &h) },
		"max_output": func(place string, v *yaml.Node) { c.MaxOutput = r.size(place, v) },
	})
	return h
}

// neither says what is wrong with a handler that has no command and no http: a
// key may be misspelt.
func (r *reader) neither(place string, n *yaml.Node) {
	before := len(r.problems)
	known := keys{}
	for _, key := range []string{"command", "http", "timeout", "kill_grace", "dir", "env", "max_output"} {
		known[key] = func(string, *yaml.Node) {}
	}
	r.mapping(n, place, known)
	if len(r.problems) == before {
		r.problem(n, "%s needs one of command and http", place)
	}
}

func (r *reader) command(place string, n *yaml.Node) []string {
	if resolve(n).Kind == yaml.ScalarNode {
		r.problem(n, "%s must be a list of the program and its arguments, such as [echo, hello]; "+
			"there is no shell that would split a text", place)
		return nil
	}
	argv := r.texts(place, n)
	if len(argv) > 0 && argv[0] == "" {
		r.problem(n, "%s must begin with a program", place)
	}
	return argv
}

// environment reads variables as NAME=value pairs. One without a value is passed
// on from this process, also if it holds a secret.
func (r *reader) environment(place string, n *yaml.Node, h *Handler) {
	r.pairs(n, place, func(key, value *yaml.Node) {
		if strings.ContainsAny(key.Value, "=\x00") {
			r.problem(key, "%s: %q cannot name a variable", place, key.Value)
		}
		if resolve(value).Tag == "!!null" {
			h.passEnv = append(h.passEnv, key.Value)
			return
		}
		h.Command.Env = append(h.Command.Env, key.Value+"="+r.text(join(place, key.Value), value))
	})
}

func (r *reader) http(place string, n *yaml.Node, h *Handler) {
	r.mapping(n, place, keys{
		"method":     func(place string, v *yaml.Node) { h.HTTP.Method = r.method(place, v) },
		"url":        func(place string, v *yaml.Node) { h.HTTP.URL = r.url(place, v) },
		"headers":    func(place string, v *yaml.Node) { h.HTTP.Header = r.headers(place, v) },
		"header_env": func(place string, v *yaml.Node) { h.headerEnv = r.namedTexts(place, v) },
	})
	if !has(n, "url") {
		r.problem(n, "%s needs a url", place)
	}
}

func (r *reader) method(place string, n *yaml.Node) string {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	method := r.text(place, n)
	if !slices.Contains(methods, method) {
		r.problem(n, "%s must be one of %s", place, strings.Join(methods, ", "))
	}
	return method
}

// url does not show what it refuses: there may be a password in it.
func (r *reader) url(place string, n *yaml.Node) string {
	text := r.text(place, n)
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		r.problem(n, "%s must be a URL such as https://example.org/path", place)
	}
	return text
}

func (r *reader) headers(place string, n *yaml.Node) http.Header {
	header := http.Header{}
	r.pairs(n, place, func(key, value *yaml.Node) {
		header.Set(key.Value, r.text(join(place, key.Value), value))
	})
	return header
}

// has reports whether a mapping has a key.
func has(n *yaml.Node, key string) bool { return value(n, key) != nil }

// value is what a mapping has under a key, or nil.
func value(n *yaml.Node, key string) *yaml.Node {
	n = resolve(n)
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
