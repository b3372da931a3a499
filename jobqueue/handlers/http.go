package handlers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// DefaultHTTPTimeout is the default of HTTPConfig.Timeout.
const DefaultHTTPTimeout = time.Minute

// maxBody is how much of an answer goes to the job log.
const maxBody = 16 << 10

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
// beginning of the answer goes to the job log. Neither the URL's query nor its
// user part, which may hold secrets, do.
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
	place := cfg.Method + " " + target.Scheme + "://" + target.Host + target.Path
	handler := func(ctx context.Context, job *jobqueue.JobContext) error { return cfg.call(ctx, job, place) }
	if cfg.Timeout > 0 {
		return jobqueue.Chain(handler, jobqueue.Timeout(cfg.Timeout)), nil
	}
	return handler, nil
}

func (c HTTPConfig) call(ctx context.Context, job *jobqueue.JobContext, place string) error {
	request, err := c.request(ctx, job)
	if err != nil {
		return jobqueue.Permanent(fmt.Errorf("%s: the request cannot be made", place))
	}
	response, err := c.Client.Do(request)
	if err != nil {
		var urlErr *url.Error
		if errors.As(err, &urlErr) {
			err = urlErr.Err // the whole would show the URL
		}
		return fmt.Errorf("%s: %w", place, err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read as far as we care
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if text := strings.TrimSpace(string(body)); text != "" {
		job.Log(jobqueue.Info, text)
	}
	switch code := response.StatusCode; {
	case code >= 200 && code <= 299:
		job.SetResult(response.Status)
		return nil
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code == http.StatusTooEarly:
		err := fmt.Errorf("%s: answered %s", place, response.Status)
		return jobqueue.RetryAfter(err, retryAfter(response.Header.Get("Retry-After"), time.Now()))
	}
	return jobqueue.Permanent(fmt.Errorf("%s: answered %s", place, response.Status))
}

func (c HTTPConfig) request(ctx context.Context, job *jobqueue.JobContext) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, c.Method, c.URL, strings.NewReader(job.Args))
	if err != nil {
		return nil, err
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

// retryAfter reads a Retry-After header: seconds or a date (RFC 9110, 10.2.3).
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(header, 10, 32); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}
