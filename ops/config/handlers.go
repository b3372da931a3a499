package config

import (
	"net/http"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/jobqueue/handlers/statement"
)

// handlerReader reads the section handlers.
type handlerReader struct{ *reader }

// handler reads a command, an HTTP call or SQL. Some keys are for commands only.
func (r handlerReader) handler(place string, n *yaml.Node) Handler {
	var kinds []string
	for _, kind := range []string{"command", "http", "sql"} {
		if has(n, kind) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) > 1 {
		r.problem(n, "%s has both %s; use one", place, strings.Join(kinds, " and "))
		return Handler{}
	}
	if has(n, "sql") {
		return r.sql(place, n)
	}
	if has(n, "http") {
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
		"sql":        nil,
		"timeout":    &c.Timeout,
		"kill_grace": &c.KillGrace,
		"dir":        &c.Dir,
		"env":        func(place string, v *yaml.Node) { h.passEnv = r.environment(place, v, &c.Env) },
		"max_output": (*byteSize)(&c.MaxOutput),
	}))
	if len(r.problems) == before && !has(n, "command") { // an unknown key may be a misspelt one
		r.problem(n, "%s needs one of command, http and sql", place)
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

func (r handlerReader) sql(place string, n *yaml.Node) Handler {
	s := &statement.Work{}
	h := Handler{SQL: s}
	r.mapping(n, place, r.withCommon(&h, keys{
		"sql":     func(place string, v *yaml.Node) { s.SQL = r.statements(place, v) },
		"role":    &s.Role,
		"timeout": &s.Timeout,
	}))
	r.check(n, place, statement.Work{SQL: []string{"SELECT 1"}, Role: s.Role, Timeout: s.Timeout}) // r.statements has checked the SQL
	r.check(n, place, &h.Limits)
	return h
}

// statements reads SQL: a text, or a list of texts.
func (r handlerReader) statements(place string, n *yaml.Node) (list []string) {
	if resolve(n).Kind == yaml.SequenceNode {
		list = r.texts(place, n)
	} else {
		list = []string{r.text(place, n)}
	}
	if err := (statement.Work{SQL: list}).Validate(); err != nil {
		r.problem(n, "%s: %v", place, err)
	}
	return list
}
