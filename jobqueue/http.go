package jobqueue

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// HTTPConfig says which HTTP call runs the jobs of a task.
type HTTPConfig struct {
	// Method of the call. Empty: POST.
	Method string
	// URL, absolute, http or https. Required.
	URL string
	// Header is sent along.
	Header http.Header
	// Timeout is how long an attempt may take. 0: [DefaultHTTPTimeout].
	Timeout time.Duration
	// Client makes the call. nil: one that follows no redirects.
	Client *http.Client
}

// DefaultHTTPTimeout is the default of [HTTPConfig].Timeout.
const DefaultHTTPTimeout = time.Minute

// HTTPHandler returns a handler that makes an HTTP call.
func HTTPHandler(cfg HTTPConfig) (Handler, error) {
	if cfg.URL == "" {
		return nil, errors.New("jobqueue.HTTPConfig.URL is empty; use an absolute http or https URL")
	}
	return func(context.Context, *JobContext) error { return errors.New("not built yet") }, nil
}
