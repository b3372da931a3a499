package notify_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/notify"
	"github.com/nextrun/nextrun/periodic"
)

// While a request is in flight, all further commits together cause one more.
func TestRequestsAreCoalesced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &consumer{status: http.StatusNoContent, takes: time.Second}
		n := start(t, notify.Config{URL: "http://worker", Transport: c})
		n.Submitted(periodic.SinkJob)
		synctest.Wait()
		for range 50 {
			n.Submitted(periodic.SinkJob)
			pass(10 * time.Millisecond)
		}
		pass(time.Minute)
		if got := len(c.heard()); got != 2 {
			t.Errorf("requests: %d, want 2", got)
		}
		stop(t, n)
	})
}

// A request that failed is not retried. An outage is logged when it begins and when it ends, without secrets.
func TestOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text storetest.Log
		c := &consumer{}
		n := start(t, notify.Config{
			URL: "http://user:pass-word@worker/wake?token=s3cret", Transport: c, Logger: text.Logger(),
		})
		n.Submitted(periodic.SinkJob)
		pass(time.Minute)
		at := c.heard()
		if len(at) != 1 {
			t.Fatalf("attempts at %v, want one", at)
		}
		c.set(http.StatusServiceUnavailable, 0)
		n.Submitted(periodic.SinkJob)
		pass(time.Minute)
		c.set(http.StatusOK, 0)
		n.Submitted(periodic.SinkJob)
		pass(time.Minute)
		stop(t, n)
		lines := strings.Split(strings.TrimSpace(text.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "cannot notify") || !strings.Contains(lines[1], "works again") {
			t.Errorf("the log is:\n%s", text.String())
		}
		for _, secret := range []string{"pass-word", "s3cret"} {
			if strings.Contains(text.String(), secret) {
				t.Errorf("the log shows %s:\n%s", secret, text.String())
			}
		}
	})
}

// A consumer that does not answer delays nobody: not the others, and not the end.
func TestSilentConsumer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent, good := &consumer{status: http.StatusOK, takes: time.Hour}, &consumer{status: http.StatusOK}
		n := start(t, notify.Config{
			Transport: byHost{"silent": silent, "good": good}, Logger: slog.New(slog.DiscardHandler),
			Addresses: func(context.Context) ([]string, error) { return []string{"http://silent", "http://good"}, nil },
		})
		begun := time.Now()
		for range 10 {
			n.Submitted(periodic.SinkJob)
			synctest.Wait()
		}
		if took := time.Since(begun); took > 0 || len(good.heard()) != 10 || len(silent.heard()) != 1 {
			t.Errorf("after %s the good one has %d requests, want 10, the silent one %d, want 1", took, len(good.heard()), len(silent.heard()))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := n.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("it stopped after %s with: %v", time.Since(begun), err)
		}
	})
}

// byHost are consumers by their host.
type byHost map[string]*consumer

func (b byHost) RoundTrip(r *http.Request) (*http.Response, error) { return b[r.URL.Host].RoundTrip(r) }

// Stop sends what was committed before it, also if Start was a moment ago.
func TestStopSendsWhatIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &consumer{status: http.StatusOK}
		n := start(t, notify.Config{URL: "http://worker", Transport: c})
		n.Submitted(periodic.SinkJob)
		begun := time.Now()
		stop(t, n)
		if got := len(c.heard()); got != 1 || time.Since(begun) > 0 {
			t.Errorf("requests: %d after %s, want 1 at once", got, time.Since(begun))
		}
	})
}

// Addresses are read again now and then. If they cannot be read, the last ones serve.
func TestAddressesChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text storetest.Log
		a, b := &consumer{status: http.StatusOK}, &consumer{status: http.StatusOK}
		var mu sync.Mutex
		list, trouble, reads := []string{"http://a", "http://a", "none"}, error(nil), 0
		n := start(t, notify.Config{
			Transport: byHost{"a": a, "b": b}, Logger: text.Logger(),
			Addresses: func(context.Context) ([]string, error) {
				mu.Lock()
				defer mu.Unlock()
				reads++
				return list, trouble
			},
		})
		next := func(after time.Duration, change func()) {
			pass(after)
			mu.Lock()
			change()
			mu.Unlock()
			n.Submitted(periodic.SinkJob)
			synctest.Wait()
		}
		next(0, func() {})
		next(time.Second, func() { list = []string{"http://b"} })
		if mu.Lock(); len(a.heard()) != 2 || len(b.heard()) != 0 || reads != 1 {
			t.Errorf("a has %d, b %d, after %d reads", len(a.heard()), len(b.heard()), reads)
		}
		mu.Unlock()
		if !strings.Contains(text.String(), "not an http or https URL") {
			t.Errorf("the log lacks the bad address:\n%s", text.String())
		}
		next(time.Minute, func() {})
		next(time.Minute, func() { trouble = errors.New("no database") })
		next(time.Minute, func() {})
		next(time.Minute, func() { trouble = nil })
		if len(a.heard()) != 2 || len(b.heard()) != 4 || strings.Count(text.String(), "no database") != 2 {
			t.Errorf("a has %d, b %d:\n%s", len(a.heard()), len(b.heard()), text.String())
		}
		stop(t, n)
	})
}

// A redirect could take the secrets elsewhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	var text storetest.Log
	n := start(t, notify.Config{URL: server.URL, Logger: text.Logger()})
	n.Submitted(periodic.SinkJob)
	stop(t, n)
	if !strings.Contains(text.String(), "307 Temporary Redirect (redirects are not followed)") {
		t.Errorf("the log is:\n%s", text.String())
	}
}
