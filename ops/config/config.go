package config

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/internal/watched"
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
	Notify string                        // section queues: the key notify of the queue job

	Log *slog.Logger // hears of files that were replaced; nil: slog.Default()

	variables []string         // that hold secrets, as the file says
	lacking   map[string]error // by place: variables and files that are not there
	files     *watched.Files   // that hold secrets
	source    *source          // nil: there is no file
}

func (c *Config) read(r *reader, root *yaml.Node) {
	r.mapping(root, "", c, c.Hooks.keys(r), keys{
		"queues": func(place string, n *yaml.Node) { c.readQueues(r, place, n) },
		"tasks": func(place string, n *yaml.Node) {
			c.TaskHooks = map[string]HookSet{}
			r.pairs(n, place, func(key, value *yaml.Node) {
				c.TaskHooks[key.Value] = taskHooks(r, join(place, key.Value), value)
			})
		},
	})
	c.variables, c.lacking, c.files = r.variables, r.lacking, &r.files
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

// Build makes the handlers; those with SQL run on db.
func (c *Config) Build(db *store.DB) (map[string]jobqueue.Handler, error) {
	built := map[string]jobqueue.Handler{}
	for task := range c.Handlers {
		of := func(c *Config) (h Handler, found bool) { h, found = c.Handlers[task]; return h, found }
		handler, err := newLive(c, "handlers."+task, of, func(c *Config, h Handler) (jobqueue.Handler, error) { return h.build(c, db) })
		if err != nil {
			return nil, err
		}
		built[task] = func(ctx context.Context, job *jobqueue.JobContext) error { return handler.get()(ctx, job) }
	}
	return built, nil
}

// lacks is an error if a place of the file, or one below it, names what is not there.
func (c *Config) lacks(place string) error {
	for at, err := range c.lacking {
		if at == place || strings.HasPrefix(at, place+".") {
			return c.inPlace(at, err)
		}
	}
	return nil
}

// inPlace says of which place of the file an error is.
func (c *Config) inPlace(place string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %s: %w", c.Path, place, err)
	}
	return err
}

// secretVariables are the environment variables that may hold secrets of nextrun.
// Commands do not inherit them.
func (c *Config) secretVariables() []string {
	return append(slices.Clip(c.variables), "NEXTRUN_DB", "NEXTRUN_DB_FILE", "PGPASSWORD")
}
