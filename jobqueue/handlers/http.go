package handlers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/web"
	"github.com/nextrun/nextrun/jobqueue"
)

// HTTPConfig says which HTTP call runs the jobs of a task.
//
// The job's args are the body, by default of type application/json, but a GET, HEAD or DELETE has none if they are the
// default, {}; the headers
// Nextrun-Job-Id (also as Idempotency-Key), Nextrun-Handler, Nextrun-Task (the tracker, unless
// it has a control character), Nextrun-Attempt and, for a tick, Nextrun-Due tell the rest. Traceparent is that of [jobqueue.Traceparent].
type HTTPConfig struct {
	// Method of the call. Empty: POST.
	Method string `yaml:"method"`
	// URL, absolute, http or https. Required.
	URL string `yaml:"url" form:"secret"`
	// Header is sent along.
	Header http.Header `yaml:"headers"`
	// Timeout is how long an attempt may take. 0: 1 m;
	// negative: no limit.
	Timeout time.Duration
	// Client makes the call. nil: one that follows no redirects.
	Client *http.Client
}

// Validate returns an error that names URL, Method and Timeout if they are bad. It does not
// show the URL. [HTTP] calls it.
func (c HTTPConfig) Validate() error {
	p := &service.Check{Config: "handlers.HTTPConfig"}
	p.Field(web.GoodURL(c.URL), "URL", "not usable", "a URL such as https://example.org/path")
	p.Field(web.GoodMethod(c.Method), "Method", fmt.Sprintf("%q", c.Method), "one such as GET or POST")
	p.Field(c.Timeout <= longest, "Timeout", c.Timeout, durations)
	return p.Err()
}

// HTTP returns a handler that makes an HTTP call. A status of 2xx is success once the whole answer has come;
// 5xx, 429, 408, 425, and calls whose answer does not come or breaks off are tried again, no sooner
// than Retry-After says; every other status fails the job at once. The answer goes to the job log, of a long one
// the first 8 KiB and the last 8. The values of headers and the URL's
// path, query and user part, which may hold secrets, do not: where an answer repeats
// one, the log has xxxxx.
func HTTP(cfg HTTPConfig) (jobqueue.Handler, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Method = cmp.Or(cfg.Method, http.MethodPost)
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)
	cfg.Header = cfg.Header.Clone()
	if cfg.Client == nil {
		cfg.Client = &http.Client{Transport: transport(), CheckRedirect: web.NoRedirects}
	}
	for name, values := range cfg.Header {
		if !web.ValidHeader(strings.Join(values, "")) {
			return nil, fmt.Errorf("handlers.HTTPConfig.Header: the value of %s has a line end or another control character", name)
		}
	}
	target := web.NewTarget(cfg.URL, cfg.Header, web.PathSecrets(cfg.URL)...)
	c := caller{HTTPConfig: cfg, place: target.Secrets.Clean(cfg.Method + " " + target.Path), Target: target}
	return jobqueue.Timeout(cfg.Timeout, c.call), nil
}

// transport is that of all handlers.
var transport = sync.OnceValue(web.NewTransport)

// caller makes the calls of a handler.
type caller struct {
	HTTPConfig
	web.Target
	place string // method and URL, as messages may show them
}

func (c *caller) call(ctx context.Context, job *jobqueue.JobContext) error {
	request, err := c.request(ctx, job)
	if err != nil {
		return jobqueue.Permanent(fmt.Errorf("%s: %w", c.place, err))
	}
	response, err := web.Do(c.Client, request)
	if err != nil {
		return fmt.Errorf("%s: %w", c.place, c.Failure(err))
	}
	answer := newExcerpt(c.Secrets)
	_, broken := io.Copy(answer, response.Body)
	_ = response.Body.Close() // it has been read to its end
	answer.log(job)
	status := c.Secrets.Clean(response.Status)
	answered := fmt.Errorf("%s: answered %s", c.place, status)
	switch code := response.StatusCode; {
	case code/100 == 2 && broken != nil:
		return fmt.Errorf("%w, but not to its end: %w", answered, c.Failure(broken))
	case code/100 == 2:
		job.SetResult(status)
		return nil
	case web.MayPass(code):
		return jobqueue.RetryAfter(answered, web.RetryAfter(response.Header.Get("Retry-After"), time.Now()))
	}
	return jobqueue.Permanent(answered)
}

// request makes the request. An error is about the job, which no attempt changes.
func (c *caller) request(ctx context.Context, job *jobqueue.JobContext) (*http.Request, error) {
	if !web.ValidHeader(job.JID + job.Task) {
		return nil, errors.New("the id or the handler of the job has a control character, so a header cannot hold it")
	}
	body := job.Args
	if body == "{}" && slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodDelete}, c.Method) {
		body = "" // many servers and proxies refuse one
	}
	request, err := http.NewRequestWithContext(ctx, c.Method, c.URL, strings.NewReader(body))
	if err != nil {
		return nil, errors.New("the request cannot be made") // err would show the URL
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("User-Agent", "nextrun")
	request.Header.Set("Idempotency-Key", job.JID)
	if parent := jobqueue.Traceparent(ctx); parent != "" {
		request.Header.Set("Traceparent", parent)
	}
	for name, values := range c.Header {
		request.Header[name] = values
	}
	if host := c.Header.Get("Host"); host != "" {
		request.Host = host
	}
	request.Header.Set("Nextrun-Job-Id", job.JID)
	request.Header.Set("Nextrun-Handler", job.Task)
	if job.Tracker != "" && web.ValidHeader(job.Tracker) {
		request.Header.Set("Nextrun-Task", job.Tracker)
	}
	request.Header.Set("Nextrun-Attempt", strconv.Itoa(job.Attempt()))
	if !job.Due.IsZero() {
		request.Header.Set("Nextrun-Due", job.Due.UTC().Format(time.RFC3339Nano))
	}
	return request, nil
}
