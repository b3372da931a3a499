package main_test

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// freeAddress is a loopback address at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// A reader of docs/monitoring.md sees metrics and pages, and no stale task.
func TestMonitoringPage(t *testing.T) {
	t.Parallel()
	binary := build(t)
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		reader := newReader(t, d.Database, filepath.Dir(binary))
		metrics, pages := freeAddress(t), freeAddress(t)
		n := 0
		for _, b := range blocksOf(t, "../../docs/monitoring.md") {
			b.text = strings.NewReplacer(":9310", metrics, "127.0.0.1:8320", pages).Replace(b.text) // others may use these ports
			reader.follow(b)
			n++
		}
		if n < 4 {
			t.Errorf("found %d blocks only", n)
		}
		for _, shown := range []struct{ url, text string }{
			{metrics + "/metrics", "\nnextrun_database_up 1\n"},
			{metrics + "/healthz", "healthy\n"},
			{pages + "/", "nextrun"},
		} {
			reader.shows("http://"+shown.url, shown.text)
		}
	})
}

// shows waits until an address answers with a text.
func (r *reader) shows(url, text string) {
	r.Helper()
	storetest.Eventually(r, url+" shows "+text, func() bool {
		request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, url, nil)
		if err != nil {
			r.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false // it has not started yet
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return err == nil && strings.Contains(string(body), text)
	})
}
