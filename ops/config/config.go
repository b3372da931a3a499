package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/jobqueue/handlers/statement"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// Config is the configuration file. Each section holds the settings of a package.
// A setting that the file leaves out is zero, which stands for the default.
type Config struct {
	Path      string             // of the file; empty: there is no file
	Database  store.Options      // section database
	Scheduler scheduler.Config   // section scheduler
	Executor  executor.Config    // section executor
	Handlers  map[string]Handler // section handlers, by task name
	Relay     Relay              // section relay
	Hooks     HookSet            // the hooks for all
	TaskHooks map[string]HookSet // section tasks, by the task's id

	Queues map[periodic.Sink]queues.Kind // section queues: those that are not built in
	Notify map[periodic.Sink]*Notify     // section queues: the key notify of queues that have it
}

// Handler runs the jobs of a task: a command, an HTTP call or SQL.
type Handler struct {
	Command *handlers.CommandConfig
	HTTP    *handlers.HTTPConfig
	SQL     *statement.Work
	Limits  jobqueue.Limits // retries; Command, HTTP or SQL has the timeout
	Hooks   HookSet

	headerEnv map[string]string // http: environment variables with the values of headers
	passEnv   []string          // command: environment variables that it inherits
}

// StatementPlaces is how many SQL statements may run at once in this process, each on a
// connection of its own; 0: no handler has SQL.
func (c *Config) StatementPlaces() int {
	for _, h := range c.Handlers {
		if h.SQL != nil {
			return cmp.Or(c.Executor.PoolSize, executor.DefaultPoolSize)
		}
	}
	return 0
}

// Build makes the handlers; those with SQL run on db. env looks up the environment variables with the values
// of headers. No error shows such a value.
func (c *Config) Build(env func(string) string, db *store.DB) (map[string]jobqueue.Handler, error) {
	built := map[string]jobqueue.Handler{}
	secrets := c.secretVariables()
	for task, h := range c.Handlers {
		handler, err := h.build(env, db, secrets)
		if err != nil {
			return nil, fmt.Errorf("%s: handlers.%s: %w", c.Path, task, err)
		}
		built[task] = handler
	}
	return built, nil
}

// secretVariables are the environment variables that may hold secrets of nextrun.
// Commands do not inherit them.
func (c *Config) secretVariables() []string {
	names := []string{"NEXTRUN_DB", "NEXTRUN_DB_FILE", "PGPASSWORD"}
	for _, h := range c.Handlers {
		names = slices.AppendSeq(names, maps.Values(h.headerEnv))
		names = append(names, h.Hooks.secretVariables()...)
	}
	names = append(names, c.Hooks.secretVariables()...)
	for _, s := range c.TaskHooks {
		names = append(names, s.secretVariables()...)
	}
	for _, n := range c.Notify {
		names = slices.AppendSeq(names, maps.Values(n.headerEnv))
	}
	for _, route := range c.Relay.Topics {
		names = slices.AppendSeq(names, maps.Values(route.headerEnv))
		for _, s := range route.secrets {
			names = append(names, s.env)
		}
	}
	return names
}

func (h Handler) build(env func(string) string, db *store.DB, secrets []string) (jobqueue.Handler, error) {
	if h.SQL != nil {
		return h.SQL.Handler(db)
	}
	if h.Command != nil {
		command := *h.Command
		command.Without = secrets
		for _, name := range h.passEnv {
			if value := env(name); value != "" {
				command.Env = append(slices.Clip(command.Env), name+"="+value)
			}
		}
		return handlers.Command(command)
	}
	call := *h.HTTP
	call.Header = call.Header.Clone()
	fromEnv, err := headers(nil, h.headerEnv, env)
	if err != nil {
		return nil, err
	}
	for name, value := range fromEnv {
		if call.Header == nil {
			call.Header = http.Header{}
		}
		call.Header.Set(name, value)
	}
	return handlers.HTTP(call)
}
