package hooks

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/defaults"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/internal/web"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
)

// PostConfig says where a hook posts its notice. It holds secrets: do not log it.
type PostConfig struct {
	// URL is http or https. No error shows more of it than the host. Required.
	URL string
	// Secrets sign the requests, as those of [webhook.Config].
	Secrets []string
	// Headers are sent along, such as Authorization.
	Headers map[string]string
	// Timeout bounds a request with its answer. At most 20 s. 0:
	// 10 s.
	Timeout time.Duration
	// Transport makes the connections. nil: a copy of http.DefaultTransport.
	Transport http.RoundTripper
}

func (c PostConfig) webhook() webhook.Config {
	return webhook.Config{
		URL: c.URL, Mode: webhook.Binary, Secrets: c.Secrets, Headers: c.Headers,
		Timeout: cmp.Or(c.Timeout, defaults.HookTimeout), Transport: c.Transport,
	}
}

// Validate returns an error that names each bad field, without a secret. [Post] calls
// it.
func (c PostConfig) Validate() error {
	p := &service.Check{Config: "hooks.PostConfig"}
	service.Within(p, "Timeout", cmp.Or(c.Timeout, defaults.HookTimeout), time.Millisecond, defaults.HookTimeoutMost)
	return errors.Join(p.Err(), c.webhook().Validate())
}

// Post returns the action that posts the notice as JSON. Signature, headers and what
// answers mean are those of webhook.Publisher in binary mode.
func Post(c PostConfig) (Action, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	publisher, err := webhook.New(c.webhook())
	if err != nil {
		return nil, err
	}
	return &post{publisher, secretsOf(c.URL)}, nil
}

type post struct {
	publisher *webhook.Publisher
	secrets   web.Secrets
}

func (p *post) Do(ctx context.Context, n Notice) error {
	_, err := p.publisher.Publish(ctx, []outbox.Event{{
		ID: n.ID, Topic: n.Hook, Type: "nextrun." + string(n.Event), AggregateID: cmp.Or(n.Task, n.Handler), AggregateVersion: 1,
		Payload: text.JSON(n), Created: n.At, Traceparent: n.Traceparent,
	}})
	return clean(p.secrets, err)
}

// secretsOf are the parts of a URL that no message may show: its path too, since that
// is where many services have their token.
func secretsOf(target string) web.Secrets {
	u, err := url.Parse(target)
	if err != nil {
		return nil
	}
	parts := []string{u.Path, u.EscapedPath()}
	for part := range strings.SplitSeq(u.Path, "/") {
		if len(part) >= minToken {
			parts = append(parts, part)
		}
	}
	return web.NewSecrets(u, nil, parts...)
}

// minToken is the length from which a part of a path may be a token.
const minToken = 8

// clean takes secrets out of an error and keeps what the relay needs to know of it.
func clean(s web.Secrets, err error) error {
	if err == nil || errors.Is(err, outbox.ErrNotTried) {
		return err
	}
	cleaned := s.CleanError(err)
	switch {
	case cleaned == err: //nolint:errorlint // the same error, not one of its kind
		return err
	case outbox.IsRefusal(err):
		return outbox.Refuse(cleaned)
	}
	return cleaned
}
