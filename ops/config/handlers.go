package config

import (
	"net/http"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/jobqueue/handlers/statement"
	"github.com/nextrun/nextrun/store"
)

// Handler runs the jobs of a task: a command, an HTTP call or SQL.
type Handler struct {
	Command *handlers.CommandConfig
	HTTP    *handlers.HTTPConfig
	SQL     *statement.Work
	Limits  jobqueue.Limits // retries; Command, HTTP or SQL has the timeout
	Hooks   HookSet

	headerEnv map[string]string // http: environment variables with the values of headers
	inherited []string          // command: environment variables that it inherits
}

func (h *Handler) read(r *reader, place string, n *node) {
	kinds := slices.DeleteFunc([]string{"command", "http", "sql"}, func(kind string) bool { return !n.has(kind) })
	switch {
	case len(kinds) > 1:
		r.problem(n, "%s has both %s; use one", place, strings.Join(kinds, " and "))
	case n.has("http"):
		h.HTTP = &handlers.HTTPConfig{Method: http.MethodPost}
		r.mapping(n, place, &h.Limits, h.Hooks.keys(r), keys{
			"timeout": &h.HTTP.Timeout,
			"http": func(place string, n *node) {
				r.mapping(n, place, h.HTTP, keys{"header_env": &h.headerEnv})
				r.need(n, place, "url", "a ")
			},
		})
		r.check(n, place, h.HTTP)
	case n.has("sql"):
		h.SQL = &statement.Work{}
		r.mapping(n, place, h.SQL, &h.Limits, h.Hooks.keys(r), keys{
			"sql": func(place string, n *node) { h.SQL.SQL = r.statements(place, n) },
		})
	default:
		before := len(r.problems)
		h.Command = &handlers.CommandConfig{}
		r.mapping(n, place, h.Command, &h.Limits, h.Hooks.keys(r), keys{
			"http": nil, "sql": nil, // known, but not here
			"env": func(place string, n *node) { h.inherited = r.environment(place, n, h.Command) },
		})
		if len(r.problems) == before && len(kinds) == 0 { // an unknown key may be a misspelt one
			r.problem(n, "%s needs one of command, http and sql", place)
		}
	}
}

// environment reads environment variables as NAME=value pairs. The command inherits
// a variable that has no value here from this process, even if it holds a secret.
func (r *reader) environment(place string, n *node, c *handlers.CommandConfig) (inherited []string) {
	r.pairs(n, place, func(key, value *node) {
		if strings.ContainsAny(key.text, "=\x00") {
			r.problem(key, "%s: %q cannot name a variable", place, key.text)
		}
		if value.kind == isNull {
			inherited = append(inherited, key.text)
			return
		}
		c.Env = append(c.Env, key.text+"="+r.text(join(place, key.text), value))
	})
	return inherited
}

// statements reads SQL: a text, or a list of texts.
func (r *reader) statements(place string, n *node) []string {
	texts := r.oneOrMore(place, n)
	if err := (statement.Work{SQL: texts}).Validate(); err != nil {
		r.problem(n, "%s: %v", place, err)
	}
	return texts
}

func (h Handler) build(env func(string) string, db *store.DB, secrets []string) (jobqueue.Handler, error) {
	switch {
	case h.SQL != nil:
		return h.SQL.Handler(db)
	case h.Command != nil:
		return handlers.Command(inheriting(h.Command, h.inherited, secrets, env))
	}
	call := *h.HTTP
	var err error
	if call.Header, err = headerWith(call.Header, h.headerEnv, env); err != nil {
		return nil, err
	}
	return handlers.HTTP(call)
}

// inheriting is a command that inherits these variables, and no secrets of nextrun's.
func inheriting(c *handlers.CommandConfig, inherited, secrets []string, env func(string) string) handlers.CommandConfig {
	command := *c
	command.Without = secrets
	for _, name := range inherited {
		if value := env(name); value != "" {
			command.Env = append(slices.Clip(command.Env), name+"="+value)
		}
	}
	return command
}
