package config

import (
	"strings"

	"go.yaml.in/yaml/v3"

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

func (h *Handler) read(r *reader, place string, n *yaml.Node) {
	switch r.oneOf(n, place, "command", "http", "sql") {
	case "command":
		h.Command = &handlers.CommandConfig{}
		r.mapping(n, place, h.Command, &h.Limits, h.Hooks.keys(r), keys{"env": (*environment)(&h.Command.Env)})
	case "http":
		h.HTTP = &handlers.HTTPConfig{}
		r.mapping(n, place, &h.Limits, h.Hooks.keys(r), keys{"http": h.HTTP, "timeout": &h.HTTP.Timeout})
	case "sql":
		h.SQL = &statement.Work{}
		r.mapping(n, place, h.SQL, &h.Limits, h.Hooks.keys(r), keys{
			"sql": func(place string, n *yaml.Node) { h.SQL.SQL = r.statements(place, n) },
		})
	}
}

// environment are environment variables as NAME=value pairs.
type environment []string

func (e *environment) read(r *reader, place string, n *yaml.Node) {
	r.pairs(n, place, func(key, value *yaml.Node) {
		if strings.ContainsAny(key.Value, "=\x00") {
			r.problem(key, "%s: %q cannot name a variable", place, key.Value)
		}
		*e = append(*e, key.Value+"="+r.expanded(join(place, key.Value), value))
	})
}

// statements reads SQL: a text, or a list of texts.
func (r *reader) statements(place string, n *yaml.Node) (texts []string) {
	if n.Kind == yaml.SequenceNode {
		texts = r.texts(place, n)
	} else {
		texts = []string{r.text(place, n)}
	}
	if err := (statement.Work{SQL: texts}).Validate(); err != nil {
		r.problem(n, "%s: %v", place, err)
	}
	return texts
}

func (h Handler) build(c *Config, db *store.DB) (jobqueue.Handler, error) {
	switch {
	case h.SQL != nil:
		return h.SQL.Handler(db)
	case h.Command != nil:
		return handlers.Command(c.command(h.Command))
	}
	return handlers.HTTP(*h.HTTP)
}

// command is a command that inherits no secrets of nextrun's.
func (c *Config) command(command *handlers.CommandConfig) handlers.CommandConfig {
	without := *command
	without.Without = c.secretVariables()
	return without
}
