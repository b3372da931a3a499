package config

import (
	"net/http"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/handlers"
)

// handlerReader reads the section handlers.
type handlerReader struct{ *reader }

// handler reads a command or an HTTP call. Some keys are for commands only.
func (r handlerReader) handler(place string, n *yaml.Node) Handler {
	if has(n, "http") {
		if has(n, "command") {
			r.problem(n, "%s has both command and http; use one", place)
			return Handler{}
		}
		h := Handler{HTTP: &handlers.HTTPConfig{Method: http.MethodPost}}
		r.mapping(n, place, r.withCommon(&h, keys{
			"http":    func(place string, v *yaml.Node) { r.http(place, v, &h) },
			"timeout": &h.HTTP.Timeout,
		}))
		r.check(n, place, h.HTTP)
		r.check(n, place, &h.Limits)
		return h
	}
	before := len(r.problems)
	c := &handlers.CommandConfig{}
	h := Handler{Command: c}
	r.mapping(n, place, r.withCommon(&h, keys{
		"command":    func(place string, v *yaml.Node) { c.Argv = r.command(place, v) },
		"http":       nil, // known, but not here
		"timeout":    &c.Timeout,
		"kill_grace": &c.KillGrace,
		"dir":        &c.Dir,
		"env":        func(place string, v *yaml.Node) { h.passEnv = r.environment(place, v, &c.Env) },
		"max_output": (*byteSize)(&c.MaxOutput),
	}))
	if len(r.problems) == before && !has(n, "command") { // an unknown key may be a misspelt one
		r.problem(n, "%s needs one of command and http", place)
	}
	r.check(n, place, c)
	r.check(n, place, &h.Limits)
	return h
}

// withCommon adds the keys that both kinds of handlers have: limits and hooks.
func (r handlerReader) withCommon(h *Handler, known keys) keys {
	l := &h.Limits
	known["retry_limit"] = orZero(r.reader, &l.RetryLimit, executor.Never)
	known["retry_delay"] = &l.RetryDelay
	known["concurrency"] = &l.Concurrency
	return hookReader(r).withHooks(&h.Hooks, known)
}

func (r handlerReader) command(place string, n *yaml.Node) []string {
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

// environment reads environment variables as NAME=value pairs. The command inherits
// a variable that has no value here from this process, even if it holds a secret.
func (r handlerReader) environment(place string, n *yaml.Node, env *[]string) (inherited []string) {
	r.pairs(n, place, func(key, value *yaml.Node) {
		if strings.ContainsAny(key.Value, "=\x00") {
			r.problem(key, "%s: %q cannot name a variable", place, key.Value)
		}
		if isNull(resolve(value)) {
			inherited = append(inherited, key.Value)
			return
		}
		*env = append(*env, key.Value+"="+r.text(join(place, key.Value), value))
	})
	return inherited
}

func (r handlerReader) http(place string, n *yaml.Node, h *Handler) {
	r.mapping(n, place, keys{
		"method":     func(place string, v *yaml.Node) { h.HTTP.Method = r.method(place, v) },
		"url":        &h.HTTP.URL,
		"headers":    func(place string, v *yaml.Node) { h.HTTP.Header = r.headers(place, v) },
		"header_env": &h.headerEnv,
	})
	r.need(n, place, "url", "a ")
	r.check(n, place, handlers.HTTPConfig{URL: h.HTTP.URL})
}
