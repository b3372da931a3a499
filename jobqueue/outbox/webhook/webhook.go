package webhook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/internal/web"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/cloudevents"
)

const (
	maxAnswer = 64 << 10 // bytes of an answer that are read, so that the connection can serve again
	maxQuoted = 200      // bytes of it that an error quotes
)

// Publisher posts events to a URL. It implements [outbox.Publisher] and is safe
// for concurrent use.
type Publisher struct {
	cfg    Config
	keys   [][]byte // one for each secret
	client *http.Client
	target web.Target // with what no error may show
}

// New returns a publisher. It returns an error that names the field if the
// configuration is not valid.
func New(cfg Config) (*Publisher, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	keys, err := cfg.keys()
	if err != nil {
		return nil, err
	}
	if cfg.Transport == nil {
		cfg.Transport = web.NewTransport()
	}
	p := &Publisher{cfg: cfg, keys: keys, client: &http.Client{
		Transport:     cfg.Transport,
		Timeout:       cfg.Timeout,
		CheckRedirect: web.NoRedirects,
	}}
	p.target = web.NewTarget(cfg.URL, cfg.Header, append(web.PathSecrets(cfg.URL), cfg.Secrets...)...)
	return p, nil
}

// Publish implements [outbox.Publisher].
func (p *Publisher) Publish(ctx context.Context, events []outbox.Event) (int, error) {
	return outbox.OneByOne(p.send).Publish(ctx, events)
}

// Close closes idle connections.
func (p *Publisher) Close() { p.client.CloseIdleConnections() }

func (p *Publisher) send(ctx context.Context, event outbox.Event) error {
	request, err := p.request(ctx, event)
	if err != nil {
		return err
	}
	answer, err := web.Do(p.client, request)
	if err != nil {
		return fmt.Errorf("post to %s: %w", p.target.Host, p.target.Failure(err))
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if cerr := answer.Body.Close(); err == nil {
		err = cerr
	}
	if answer.StatusCode/100 == 2 {
		return nil // accepted, even if the answer broke off
	}
	if err != nil {
		body = nil
	}
	return p.verdict(answer, body)
}

// verdict returns what an answer other than 2xx means.
func (p *Publisher) verdict(answer *http.Response, body []byte) error {
	quoted := strings.Join(strings.Fields(p.target.Secrets.Clean(string(body))), " ")
	quoted = strings.ToValidUTF8(quoted[:min(len(quoted), maxQuoted)], "")
	text := fmt.Sprintf("%s answered %s", answer.Request.URL.Host, answer.Status)
	if answer.StatusCode/100 == 3 {
		text += " (redirects are not followed)"
	} else if quoted != "" {
		text += ": " + quoted
	}
	err := p.target.Secrets.CleanError(errors.New(text))
	switch code := answer.StatusCode; {
	case web.MayPass(code):
		return jobqueue.RetryAfter(err, web.RetryAfter(answer.Header.Get("Retry-After"), time.Now()))
	case code/100 == 4:
		return jobqueue.Permanent(err)
	}
	return err
}

// request makes the POST of an event.
func (p *Publisher) request(ctx context.Context, event outbox.Event) (*http.Request, error) {
	c := cloudevents.New(event, p.cfg.Source)
	body, contentType := []byte(c.Data), c.ContentType
	if p.cfg.Mode == Structured {
		body = c.Structured()
		contentType = cloudevents.StructuredType + "; charset=utf-8"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", p.target.Secrets.CleanError(err))
	}
	if parent := cmp.Or(traceparent.Of(ctx), event.Traceparent); parent != "" {
		r.Header.Set("Traceparent", parent)
	}
	maps.Copy(r.Header, p.cfg.Header)
	r.Header.Set("Content-Type", contentType)
	if p.cfg.Mode == Binary {
		for _, a := range c.Attributes {
			r.Header.Set("ce-"+a.Name, headerValue(a.Value))
		}
	}
	sign(r.Header, p.keys, headerValue(event.ID), time.Now(), body)
	return r, nil
}

// headerValue writes an attribute, or an event's id, as a header's value: what is not printable
// ASCII, the space, the quote and the percent sign are percent-encoded UTF-8
// (HTTP protocol binding 3.1.3.2).
func headerValue(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' || c == '"' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
