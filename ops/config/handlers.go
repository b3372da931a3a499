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
				r.mapping(n, place, h.HTTP)
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
			"env": (*environment)(&h.Command.Env),
		})
		if len(r.problems) == before && len(kinds) == 0 { // an unknown key may be a misspelt one
			r.problem(n, "%s needs one of command, http and sql", place)
		}
	}
}

// environment are environment variables as NAME=value pairs.
type environment []string

func (e *environment) read(r *reader, place string, n *node) {
	r.pairs(n, place, func(key, value *node) {
		if strings.ContainsAny(key.text, "=\x00") {
			r.problem(key, "%s: %q cannot name a variable", place, key.text)
		}
		*e = append(*e, key.text+"="+r.expanded(join(place, key.text), value))
	})
}

// statements reads SQL: a text, or a list of texts.
func (r *reader) statements(place string, n *node) []string {
	texts := r.oneOrMore(place, n)
	if err := (statement.Work{SQL: texts}).Validate(); err != nil {
		r.problem(n, "%s: %v", place, err)
	}
	return texts
}

func (h Handler) build(c *Config, db *store.DB, place string) (handler jobqueue.Handler, err error) {
	switch {
	case h.SQL != nil:
		handler, err = h.SQL.Handler(db)
	case h.Command != nil:
		if err := c.lacks(place + ".env"); err != nil {
			return nil, err
		}
		handler, err = handlers.Command(c.command(h.Command))
	default:
		if err := c.lacks(place + ".http"); err != nil {
			return nil, err
		}
		handler, err = handlers.HTTP(*h.HTTP)
	}
	return handler, c.inPlace(place, err)
}

// command is a command that inherits no secrets of nextrun's.
func (c *Config) command(command *handlers.CommandConfig) handlers.CommandConfig {
	without := *command
	without.Without = c.secretVariables()
	return without
}
