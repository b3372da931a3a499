package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/web"
)

// client posts spans. It implements otlptrace.Client.
type client struct {
	settings
	http    *http.Client
	target  web.Target
	closing chan struct{} // closed when the program ends
}

func newClient(s settings) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if s.tls != nil {
		transport.TLSClientConfig = s.tls
	}
	return &client{s, &http.Client{Transport: transport, CheckRedirect: web.NoRedirects}, web.NewTarget(s.url, s.headers), make(chan struct{})}
}

// Start implements otlptrace.Client.
func (c *client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It tries again for as long as one upload may
// take; at the end of the program only if the collector answers. Errors show the host,
// and no secret.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	// TracesData has the same form on the wire as ExportTraceServiceRequest.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	if c.gzip {
		body = compressed(body)
	}
	closing := c.closing
	pace := service.Backoff{Least: 200 * time.Millisecond, Most: 5 * time.Second}
	for {
		again, err := c.post(ctx, body)
		if err == nil || again < 0 {
			return err
		}
		timer := time.NewTimer(max(again, pace.Next()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		case <-closing:
			closing = nil
		}
		timer.Stop()
	}
}

// post sends a body. After an error it returns how long to wait at least before another
// try; negative: none would help.
func (c *client) post(ctx context.Context, body []byte) (again time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return -1, fmt.Errorf("send to %s: %w", c.target.Host, c.target.Failure(err))
	}
	request.Header = c.headers.Clone()
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("User-Agent", "nextrun")
	if c.gzip {
		request.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return c.unlessClosing(), fmt.Errorf("send to %s: %w", c.target.Host, c.target.Failure(err))
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection can serve again
	_ = answer.Body.Close()
	if answer.StatusCode/100 == 2 {
		return 0, nil
	}
	err = c.target.Secrets.CleanError(fmt.Errorf("%s answered %s", c.target.Host, answer.Status))
	switch answer.StatusCode { // those of the specification
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return web.RetryAfter(answer.Header.Get("Retry-After"), time.Now()), err
	}
	return -1, err
}

// unlessClosing is when to try again to reach the collector: now, or never if the program
// ends.
func (c *client) unlessClosing() time.Duration {
	select {
	case <-c.closing:
		return -1
	default:
		return 0
	}
}

func compressed(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}
