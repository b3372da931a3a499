package handlers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// DefaultHTTPTimeout is the default of HTTPConfig.Timeout.
const DefaultHTTPTimeout = time.Minute

// HTTPConfig says which HTTP call runs the jobs of a task.
//
// The job's args are the body, by default of type application/json; the headers
// Nextrun-Job-Id (also as Idempotency-Key), Nextrun-Task, Nextrun-Attempt and,
// for a tick, Nextrun-Due tell the rest.
type HTTPConfig struct {
	// Method of the call. Empty: POST.
	Method string
	// URL, absolute, http or https. Required.
	URL string
	// Header is sent along.
	Header http.Header
	// Timeout is how long an attempt may take. 0: [DefaultHTTPTimeout];
	// negative: no limit.
	Timeout time.Duration
	// Client makes the call. nil: one that follows no redirects.
	Client *http.Client
}

// HTTP returns a handler that makes an HTTP call. A status of 2xx is
// success; 5xx, 429, 408, 425 and calls without an answer are tried again, no sooner
// than Retry-After says; every other status fails the job at once. The
// beginning of the answer goes to the job log. The values of headers and the URL's
// query and user part, which may hold secrets, do not: where an answer repeats
// one, the log has xxxxx.
func HTTP(cfg HTTPConfig) (jobqueue.Handler, error) {
	if cfg.Method == "" {
		cfg.Method = http.MethodPost
	}
	target, err := url.Parse(cfg.URL)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return nil, errors.New("handlers.HTTPConfig.URL is not an absolute http or https URL")
	}
	if _, err := http.NewRequest(cfg.Method, cfg.URL, http.NoBody); err != nil {
		return nil, fmt.Errorf("handlers.HTTPConfig.Method is %q: use one such as POST", cfg.Method)
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultHTTPTimeout)
	cfg.Header = cfg.Header.Clone()
	if cfg.Client == nil {
		cfg.Client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	for name, values := range cfg.Header {
		if slices.ContainsFunc(values, notForHeaders) {
			return nil, fmt.Errorf("handlers.HTTPConfig.Header: the value of %s has a line end or another control character", name)
		}
	}
	c := caller{HTTPConfig: cfg, place: cfg.Method + " " + target.Scheme + "://" + target.Host + target.Path, secrets: cfg.secrets(target)}
	handler := jobqueue.Handler(c.call)
	if cfg.Timeout > 0 {
		return jobqueue.Chain(handler, jobqueue.Timeout(cfg.Timeout)), nil
	}
	return handler, nil
}

// caller makes the calls of a handler.
type caller struct {
	HTTPConfig
	place   string // method and URL, as messages may show them
	secrets []string
}

func (c *caller) call(ctx context.Context, job *jobqueue.JobContext) error {
	request, err := c.request(ctx, job)
	if err != nil {
		return jobqueue.Permanent(fmt.Errorf("%s: %w", c.place, err))
	}
	response, err := c.Client.Do(request)
	if err != nil {
		var urlErr *url.Error
		if errors.As(err, &urlErr) {
			err = urlErr.Err // the whole would show the URL
		}
		return c.failed(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read as far as we care
	if text := c.quote(response.Body); text != "" {
		job.Log(jobqueue.Info, text)
	}
	status := c.clean(response.Status)
	answered := fmt.Errorf("%s: answered %s", c.place, status)
	switch code := response.StatusCode; {
	case code >= 200 && code <= 299:
		job.SetResult(status)
		return nil
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code == http.StatusTooEarly:
		return jobqueue.RetryAfter(answered, retryAfter(response.Header.Get("Retry-After"), time.Now()))
	}
	return jobqueue.Permanent(answered)
}

// failed is the error of a call without an answer.
func (c *caller) failed(err error) error {
	if text := err.Error(); c.clean(text) != text {
		err = errors.New(c.clean(text))
	}
	return fmt.Errorf("%s: %w", c.place, err)
}

// request makes the request. An error is about the job, which no attempt changes.
func (c *caller) request(ctx context.Context, job *jobqueue.JobContext) (*http.Request, error) {
	if notForHeaders(job.JID) || notForHeaders(job.Task) {
		return nil, errors.New("the id or the task of the job has a control character, so a header cannot hold it")
	}
	request, err := http.NewRequestWithContext(ctx, c.Method, c.URL, strings.NewReader(job.Args))
	if err != nil {
		return nil, errors.New("the request cannot be made") // err would show the URL
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "nextrun")
	request.Header.Set("Idempotency-Key", job.JID)
	for name, values := range c.Header {
		request.Header[name] = values
	}
	if host := c.Header.Get("Host"); host != "" {
		request.Host = host
	}
	request.Header.Set("Nextrun-Job-Id", job.JID)
	request.Header.Set("Nextrun-Task", job.Task)
	request.Header.Set("Nextrun-Attempt", strconv.Itoa(job.Attempt()))
	if !job.Due.IsZero() {
		request.Header.Set("Nextrun-Due", job.Due.UTC().Format(time.RFC3339Nano))
	}
	return request, nil
}

// notForHeaders reports whether a text has a character that the value of a
// header must not have (RFC 9110, 5.5).
func notForHeaders(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// longestWait is the longest time that retryAfter returns. The executor has a
// lower limit of its own.
const longestWait = 365 * 24 * time.Hour

// retryAfter reads a Retry-After header: seconds or a date (RFC 9110, 10.2.3).
func retryAfter(header string, now time.Time) time.Duration {
	if header != "" && strings.Trim(header, "0123456789") == "" {
		seconds, err := strconv.ParseInt(header, 10, 64)
		if err != nil || seconds > int64(longestWait/time.Second) {
			return longestWait
		}
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}
