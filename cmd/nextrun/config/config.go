package config

import (
	"fmt"
	"net/http"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/handlers"
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
	Command *handlers.CommandConfig
	HTTP    *handlers.HTTPConfig

	headerEnv map[string]string // http: variables that hold the values of headers
}

// Build makes the handlers. env looks up the variables that hold values of
// headers; no error shows one.
func (c *Config) Build(env func(string) string) (map[string]jobqueue.Handler, error) {
	built := map[string]jobqueue.Handler{}
	for task, h := range c.Handlers {
		handler, err := h.build(env)
		if err != nil {
			return nil, fmt.Errorf("%s: handlers.%s: %w", c.Path, task, err)
		}
		built[task] = handler
	}
	return built, nil
}

func (h Handler) build(env func(string) string) (jobqueue.Handler, error) {
	if h.Command != nil {
		return handlers.Command(*h.Command)
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
