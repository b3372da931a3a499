package config

import (
	"fmt"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Config is the configuration file: its sections are settings of the packages.
// What the file does not set is zero, which stands for the default.
type Config struct {
	Path      string             // of the file; empty: there is none
	Database  store.Options      // section database
	Scheduler periodic.Config    // section scheduler
	Executor  jobqueue.Config    // section executor
	Handlers  map[string]Handler // section handlers, by task name
	Relay     Relay              // section relay
}

// Handler is what runs the jobs of a task: a command or an HTTP call.
type Handler struct {
	Command *jobqueue.CommandConfig
	HTTP    *jobqueue.HTTPConfig
}

// Build makes the handlers.
func (c *Config) Build() (map[string]jobqueue.Handler, error) {
	built := map[string]jobqueue.Handler{}
	for task, h := range c.Handlers {
		var err error
		if h.Command != nil {
			built[task], err = jobqueue.CommandHandler(*h.Command)
		} else {
			built[task], err = jobqueue.HTTPHandler(*h.HTTP)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: handlers.%s: %w", c.Path, task, err)
		}
	}
	return built, nil
}
