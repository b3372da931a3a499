package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	key    = "raw:a key of more than 16 bytes"
	newKey = "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="
)

func event() outbox.Event {
	return outbox.Event{
		ID: "e1", Topic: "orders", Type: "placed", AggregateID: `o "ä" 7%`, AggregateVersion: 3, Payload: `{"a":1}`,
		Created: time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC),
	}
}

// received is a request as the receiver had it.
type received struct {
	header http.Header
	body   string
}

// receiver answers with a status, and notes what it had.
func receiver(t *testing.T, answer http.HandlerFunc) (url string, requests <-chan received) {
	t.Helper()
	noted := make(chan received, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		noted <- received{r.Header, string(body)}
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, noted
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func publisher(t *testing.T, cfg webhook.Config) *webhook.Publisher {
	t.Helper()
	p, err := webhook.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestModes(t *testing.T) {
	t.Parallel()
	url, requests := receiver(t, status(http.StatusNoContent))
	for mode, want := range map[webhook.Mode]map[string]string{
		webhook.Structured: {"Content-Type": "application/cloudevents+json; charset=utf-8", "Ce-Id": "", "X-Own": "yes"},
		webhook.Binary: {
			"Content-Type": "application/json", "Ce-Specversion": "1.0", "Ce-Id": "e1", "Ce-Type": "placed",
			"Ce-Source": "/nextrun", "Ce-Subject": "o%20%22%C3%A4%22%207%25", "Ce-Time": "2026-03-01T12:30:00.000000Z",
			"Ce-Aggregateversion": "3", "X-Own": "yes",
		},
	} {
		p := publisher(t, webhook.Config{URL: url, Mode: mode, Header: http.Header{"X-Own": {"yes"}}})
		if n, err := p.Publish(t.Context(), []outbox.Event{event()}); n != 1 || err != nil {
			t.Fatalf("%s: %d, %v", mode, n, err)
		}
		got := <-requests
		for name, value := range want {
			if got.header.Get(name) != value {
				t.Errorf("%s: header %s is %q, want %q", mode, name, got.header.Get(name), value)
			}
		}
		if mode == webhook.Binary && got.body != `{"a":1}` || mode == webhook.Structured && !strings.Contains(got.body, `"data":{"a":1}`) {
			t.Errorf("%s: the body is %s", mode, got.body)
		}
		if got.header.Get(webhook.HeaderSignature) != "" {
			t.Errorf("%s: signed without a secret", mode)
		}
	}
}

func TestSignature(t *testing.T) {
	t.Parallel()
	url, requests := receiver(t, status(http.StatusOK))
	p := publisher(t, webhook.Config{URL: url, Secrets: []string{newKey, key}})
	if _, err := p.Publish(t.Context(), []outbox.Event{event()}); err != nil {
		t.Fatal(err)
	}
	got := <-requests
	now, minutes := time.Now(), 5*time.Minute
	for _, secret := range []string{key, newKey} { // receivers may have either
		if err := webhook.Verify(got.header, []byte(got.body), now, minutes, secret); err != nil {
			t.Errorf("a receiver with one of the keys: %v", err)
		}
	}
	changed := got.header.Clone()
	changed.Set(webhook.HeaderID, "e2")
	for name, err := range map[string]error{
		"another key":  webhook.Verify(got.header, []byte(got.body), now, minutes, "raw:another key of 16 bytes and more"),
		"another body": webhook.Verify(got.header, []byte(got.body+" "), now, minutes, key),
		"another id":   webhook.Verify(changed, []byte(got.body), now, minutes, key),
		"an hour old":  webhook.Verify(got.header, []byte(got.body), now.Add(time.Hour), minutes, key),
		"no signature": webhook.Verify(http.Header{}, []byte(got.body), now, minutes, key),
	} {
		if !errors.Is(err, webhook.ErrSignature) {
			t.Errorf("%s: %v, want ErrSignature", name, err)
		}
	}
}

// Ids are any text; a header is not. Each event has a signature of its own.
func TestIDsThatNoHeaderCanHold(t *testing.T) {
	t.Parallel()
	url, requests := receiver(t, status(http.StatusOK))
	p := publisher(t, webhook.Config{URL: url, Secrets: []string{key}})
	var events []outbox.Event
	for _, id := range []string{"a\nb", "ä b", "100%", "order-7/a"} {
		e := event()
		e.ID = id
		events = append(events, e)
	}
	if n, err := p.Publish(t.Context(), events); n != len(events) || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	for _, want := range []string{"a%0Ab", "%C3%A4%20b", "100%25", "order-7/a"} {
		got := <-requests
		if err := webhook.Verify(got.header, []byte(got.body), time.Now(), time.Minute, key); err != nil || got.header.Get(webhook.HeaderID) != want {
			t.Errorf("came as %q, %v; want %q", got.header.Get(webhook.HeaderID), err, want)
		}
	}
}

// The example of the Standard Webhooks specification, computed by other code:
// printf %s 'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}' | openssl dgst -sha256 -hmac ...
func TestSignatureIsThatOfTheSpecification(t *testing.T) {
	t.Parallel()
	header := http.Header{}
	header.Set("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
	header.Set("webhook-timestamp", "1614265330")
	header.Set("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
	err := webhook.Verify(header, []byte(`{"test": 2432232314}`), time.Unix(1614265330, 0), time.Second, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Error(err)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for code, refused := range map[int]bool{
		400: true, 401: true, 404: true, 410: true, 422: true,
		408: false, 425: false, 429: false, 500: false, 502: false, 503: false, 301: false, 304: false,
	} {
		url, _ := receiver(t, status(code))
		n, err := publisher(t, webhook.Config{URL: url}).Publish(t.Context(), []outbox.Event{event(), event()})
		if n != 0 || err == nil || jobqueue.IsPermanent(err) != refused {
			t.Errorf("%d: %d, %v; refusal wanted: %t", code, n, err, refused)
		}
	}
}

func TestOrderEndsAtTheFirstFailure(t *testing.T) {
	t.Parallel()
	count := 0
	url, requests := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if count++; count == 3 {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	n, err := publisher(t, webhook.Config{URL: url}).Publish(t.Context(), make4())
	if n != 2 || err == nil || len(requests) != 3 {
		t.Errorf("%d accepted, %v, %d requests; want 2, an error and 3", n, err, len(requests))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := publisher(t, webhook.Config{URL: url}).Publish(ended, make4()); n != 0 || !errors.Is(err, outbox.ErrNotTried) {
		t.Errorf("after the end: %d, %v; want ErrNotTried", n, err)
	}
}

func make4() []outbox.Event { return []outbox.Event{event(), event(), event(), event()} }

// A redirect could take the event and the secrets elsewhere.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere, stolen := receiver(t, status(http.StatusOK))
	for _, code := range []int{301, 302, 303, 307, 308} {
		url, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere, code) })
		p := publisher(t, webhook.Config{URL: url, Header: http.Header{"Authorization": {"Bearer geheim"}}})
		if n, err := p.Publish(t.Context(), []outbox.Event{event()}); n != 0 || err == nil || jobqueue.IsPermanent(err) {
			t.Errorf("%d: %d, %v; want another attempt", code, n, err)
		}
	}
	if len(stolen) > 0 {
		t.Error("the event went elsewhere")
	}
}

// The timeout bounds all of a request: the name that nobody looks up, the answer that does not come or comes byte by byte, and the
// rest of one whose status says that the event is accepted. What switches to another protocol has no end.
func TestTimeout(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	url, _ := receiver(t, func(http.ResponseWriter, *http.Request) { <-hang })
	trickles, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("."))
			_ = http.NewResponseController(w).Flush()
		}
	})
	switches, _ := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "other")
		w.WriteHeader(http.StatusSwitchingProtocols)
		_ = http.NewResponseController(w).Flush()
		<-hang
	})
	t.Cleanup(func() { close(hang) }) // before the server is closed
	names := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	nowhere := &http.Transport{DialContext: (&net.Dialer{Resolver: names}).DialContext}
	for name, c := range map[string]struct {
		config   webhook.Config
		accepted int
	}{
		"no answer":          {webhook.Config{URL: url}, 0},
		"no name":            {webhook.Config{URL: "http://receiver.example.org", Transport: nowhere}, 0},
		"an answer for ever": {webhook.Config{URL: trickles}, 1},
		"another protocol":   {webhook.Config{URL: switches}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.config.Timeout = 50 * time.Millisecond
			began := time.Now()
			n, err := publisher(t, c.config).Publish(t.Context(), []outbox.Event{event()})
			if n != c.accepted || (err == nil) != (n == 1) || jobqueue.IsPermanent(err) || time.Since(began) > storetest.Patience {
				t.Errorf("%d, %v after %s; want %d", n, err, time.Since(began), c.accepted)
			}
		})
	}
}

func TestErrorsShowNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "geheim-geheim-geheim"
	echo, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, "what is %s and %s?", r.Header.Get("Authorization"), r.URL.RawQuery)
	})
	bare, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, "unknown token %s", strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	})
	for name, url := range map[string]string{
		"an answer that repeats it":          echo + "/?token=" + secret,
		"an answer that repeats it, in part": bare,
		"no connection":                      "http://user:" + secret + "@127.0.0.1:1/?token=" + secret,
	} {
		p := publisher(t, webhook.Config{URL: url, Secrets: []string{key}, Header: http.Header{"Authorization": {"Bearer " + secret}}})
		_, err := p.Publish(t.Context(), []outbox.Event{event()})
		if err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for field, cfg := range map[string]webhook.Config{
		"URL": {URL: "http://user:" + secret + "@\x7f/"}, "Mode": {URL: "http://x", Mode: "odd"}, "Secrets[0]": {URL: "http://x", Secrets: []string{"raw:geheim"}},
		"Header": {URL: "http://x", Header: http.Header{"Webhook-Id": {secret}}}, "Timeout": {URL: "http://x", Timeout: -1},
		`Header: "X Own"`: {URL: "http://x", Header: http.Header{"X Own": {secret}}},
		`Header: "X-Own"`: {URL: "http://x", Header: http.Header{"X-Own": {secret + "\x01"}}},
	} {
		if _, err := webhook.New(cfg); err == nil || !strings.Contains(err.Error(), "Config."+field) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// The libraries of Standard Webhooks decode a secret as base64, with or without
// whsec_. We would take its bytes and every signature would be wrong.
func TestSecretWithoutPrefixIsRefused(t *testing.T) {
	t.Parallel()
	const secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
	_, err := webhook.New(webhook.Config{URL: "http://x", Secrets: []string{newKey, secret}})
	if err == nil || !strings.Contains(err.Error(), "Secrets[1] must begin with whsec_") || strings.Contains(err.Error(), secret) {
		t.Errorf("%v", err)
	}
	for _, good := range []string{newKey, "raw:" + secret} {
		publisher(t, webhook.Config{URL: "http://x", Secrets: []string{good}})
	}
}
