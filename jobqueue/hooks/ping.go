package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/internal/web"
	"github.com/nextrun/nextrun/jobqueue"
)

// PingConfig is a dead man's switch: a service that raises an alarm unless it hears of
// a success in time. It holds a secret: do not log it.
type PingConfig struct {
	// URL is that of the switch, in the convention of healthchecks.io: /fail is added to it
	// for a failure, and nothing for a success. No error shows more of it than the
	// host. Required.
	URL string `yaml:"url"`
	// Timeout bounds a request with its answer. 0: 10 s.
	Timeout time.Duration `yaml:"timeout"`
	// Transport makes the connections. nil: a copy of http.DefaultTransport.
	Transport http.RoundTripper
}

// Validate returns an error that names each bad field, without the URL. [Ping] calls
// it.
func (c PingConfig) Validate() error {
	p := &service.Check{Config: "hooks.PingConfig"}
	p.Field(web.GoodURL(c.URL), "URL", "not usable", "a URL such as https://hc-ping.com/UUID")
	p.Field(c.Timeout >= 0, "Timeout", c.Timeout, "0s or more")
	return p.Err()
}

// Ping returns the action that tells a dead man's switch of a success or a failure. It posts the end of the output.
func Ping(c PingConfig) (Action, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, errors.New("hooks.PingConfig.URL is not usable")
	}
	transport := c.Transport
	if transport == nil {
		transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	return &ping{
		base: *u, secrets: secretsOf(c.URL),
		client: &http.Client{Timeout: cmp.Or(c.Timeout, DefaultTimeout), Transport: transport, CheckRedirect: web.NoRedirects},
	}, nil
}

type ping struct {
	base    url.URL
	secrets web.Secrets
	client  *http.Client
}

func (p *ping) Do(ctx context.Context, n Notice) error {
	u := p.base
	if n.Event == Failure {
		u.Path, u.RawPath = strings.TrimRight(u.Path, "/")+"/fail", ""
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(n.Output))
	if err != nil {
		return jobqueue.Permanent(errors.New("the request of the ping cannot be made")) // err would show the URL
	}
	request.Header.Set("Content-Type", "text/plain; charset=utf-8")
	request.Header.Set("User-Agent", "nextrun")
	if parent := traceparent.Of(ctx); parent != "" {
		request.Header.Set("Traceparent", parent)
	}
	answer, err := p.client.Do(request)
	if err != nil {
		return fmt.Errorf("ping %s: %w", u.Host, web.Target{Secrets: p.secrets}.Failure(err))
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection can serve again
	_ = answer.Body.Close()
	if answer.StatusCode/100 == 2 {
		return nil
	}
	err = p.secrets.CleanError(fmt.Errorf("ping: %s answered %s", u.Host, answer.Status))
	if web.MayPass(answer.StatusCode) {
		return jobqueue.RetryAfter(err, web.RetryAfter(answer.Header.Get("Retry-After"), time.Now()))
	}
	return jobqueue.Permanent(err)
}
