package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// Config is the configuration file. Each section holds the settings of a package.
// A setting that the file leaves out is zero, which stands for the default.
type Config struct {
	Path      string             // of the file; empty: there is no file
	Database  store.Options      `yaml:"database"`
	Scheduler scheduler.Config   `yaml:"scheduler"`
	Executor  executor.Config    `yaml:"executor"`
	Handlers  map[string]Handler `yaml:"handlers"` // by task name
	Relay     Relay              `yaml:"relay"`
	Hooks     HookSet            // the hooks for all
	TaskHooks map[string]HookSet // section tasks, by the task's id

	Queues map[periodic.Sink]queues.Kind // section queues: those that are not built in
	Notify map[periodic.Sink]*Notify     // section queues: the key notify of queues that have it
}

func (c *Config) read(r *reader, root *node) {
	r.mapping(root, "", c, c.Hooks.keys(r), keys{
		"queues": func(place string, n *node) { c.readQueues(r, place, n) },
		"tasks": func(place string, n *node) {
			c.TaskHooks = map[string]HookSet{}
			r.pairs(n, place, func(key, value *node) {
				c.TaskHooks[key.text] = taskHooks(r, join(place, key.text), value)
			})
		},
	})
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
	sets := append(slices.Collect(maps.Values(c.TaskHooks)), c.Hooks)
	for _, h := range c.Handlers {
		names = slices.AppendSeq(names, maps.Values(h.headerEnv))
		sets = append(sets, h.Hooks)
	}
	for _, s := range sets {
		for _, h := range s {
			names = append(h.secrets.variables(names), h.urlEnv)
		}
	}
	for _, n := range c.Notify {
		names = slices.AppendSeq(names, maps.Values(n.headerEnv))
	}
	for _, route := range c.Relay.Topics {
		names = route.secrets.variables(names)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
