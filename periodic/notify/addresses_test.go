package notify_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/periodic/notify"
)

// Addresses are read again now and then. If they cannot be read, the last ones serve.
func TestAddressesChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, text := logged()
		a, b := &consumer{status: http.StatusOK}, &consumer{status: http.StatusOK}
		var mu sync.Mutex
		list, trouble, reads := []string{"http://a", "http://a", "none"}, error(nil), 0
		n := start(t, notify.Config{
			Transport: byHost{"a": a, "b": b}, Logger: log,
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
			n.Notify()
			synctest.Wait()
		}
		next(0, func() {})
		next(time.Second, func() { list = []string{"http://b"} })
		if mu.Lock(); len(a.heard()) != 2 || len(b.heard()) != 0 || reads != 1 {
			t.Errorf("a has %d, b %d, after %d reads", len(a.heard()), len(b.heard()), reads)
		}
		mu.Unlock()
		if !strings.Contains(text.String(), "not an http or https URL") {
			t.Errorf("the log lacks the bad address:\n%s", text)
		}
		next(time.Minute, func() {})
		next(time.Minute, func() { trouble = errors.New("no database") })
		next(time.Minute, func() {})
		next(time.Minute, func() { trouble = nil })
		if len(a.heard()) != 2 || len(b.heard()) != 4 || strings.Count(text.String(), "no database") != 1 ||
			strings.Count(text.String(), "can be read again") != 1 {
			t.Errorf("a has %d, b %d:\n%s", len(a.heard()), len(b.heard()), text)
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
	log, text := logged()
	n := start(t, notify.Config{URL: server.URL, Logger: log})
	n.Notify()
	stop(t, n)
	if !strings.Contains(text.String(), "307 Temporary Redirect (redirects are not followed)") {
		t.Errorf("the log is:\n%s", text)
	}
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	log := logrus.New()
	log.SetOutput(io.Discard)
	for want, cfg := range map[string]notify.Config{
		"notify.Config.URL is not usable; use a URL such as": {URL: "worker:80/secret"},
		`notify.Config.Method is "PO ST"`:                    {URL: "http://w", Method: "PO ST"},
		`notify.Config.Header is not usable for "X-A"`:       {URL: "http://w", Header: http.Header{"X-A": {"secret\n"}}},
		"notify.Config.Timeout is -1s":                       {URL: "http://w", Timeout: -time.Second},
	} {
		_, err := notify.New(cfg)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
