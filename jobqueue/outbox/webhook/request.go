package webhook

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/cloudevents"
)

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
