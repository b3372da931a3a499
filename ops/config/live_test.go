package config

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// replace puts a file that was written some time ago in the place of another one.
func replace(t *testing.T, path, text string) {
	t.Helper()
	err := os.WriteFile(path+".new", []byte(text), 0o600)
	if err == nil {
		err = os.Chtimes(path+".new", time.Time{}, time.Now().Add(-time.Minute))
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// caller has a handler, a topic and a hook whose requests a server hears.
type caller struct {
	*Config
	*testing.T
	handler jobqueue.Handler
	topics  *Publishers
	hooks   hooks.Hooks
	heard   []string
}

func newCaller(t *testing.T, secret, more string) *caller {
	t.Helper()
	c := &caller{T: t}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.heard = append(c.heard, r.URL.Path+" "+r.Header.Get("Authorization"))
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "nextrun.yaml")
	replace(t, path, strings.ReplaceAll(liveFile, "SECRET", secret)+more)
	var err error
	if c.Config, err = Read(path, func(string) string { return server.URL }); err != nil {
		t.Fatal(err)
	}
	built, err := c.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.topics, err = c.BuildRelay(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.topics.Close)
	if c.hooks, err = c.BuildHooks(); err != nil {
		t.Fatal(err)
	}
	c.handler = built["call"]
	return c
}

const liveFile = `
on_failure: {url: "${SERVER}/c", headers: {Authorization: "${file:SECRET}"}}
handlers: {call: {http: {url: "${SERVER}/a", headers: {Authorization: "${file:SECRET}"}}}}
relay: {topics: {t: {webhook: {url: "${SERVER}/b", headers: {Authorization: "${file:SECRET}"}}}}}
`

func (c *caller) want(when, path, token string) {
	c.Helper()
	c.heard = nil
	if err := c.handler(c.Context(), &jobqueue.JobContext{Job: jobqueue.Job{JID: "j", Task: "call", Args: "{}"}}); err != nil {
		c.Errorf("%s: %v", when, err)
	}
	if _, err := c.topics.Topics["t"].Publish(c.Context(), []outbox.Event{{ID: "e", Topic: "t", Type: "x", AggregateID: "a", Payload: "{}"}}); err != nil {
		c.Errorf("%s: %v", when, err)
	}
	for _, job := range c.hooks.Jobs(hooks.OfJob(jobqueue.Job{JID: "j", Task: "call", State: jobqueue.Failed}, time.Now(), nil)) {
		if err := c.hooks.Handler(nil)(c.Context(), &jobqueue.JobContext{Job: job}); err != nil {
			c.Errorf("%s: %v", when, err)
		}
	}
	if want := []string{path + " " + token, "/b " + token, "/c " + token}; !slices.Equal(c.heard, want) {
		c.Errorf("%s the receiver heard %q, want %q", when, c.heard, want)
	}
}

// A secret whose file is replaced is the new one at the next use. An empty file changes nothing, and the log says so without a secret.
func TestSecretsAreReadAgain(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "token")
	replace(t, secret, "t0ken-1\n")
	c := newCaller(t, secret, "")
	var lines storetest.Log
	c.Log = lines.Logger()
	c.want("at first", "/a", "t0ken-1")
	replace(t, secret, "t0ken-2\n")
	c.want("after a rename", "/a", "t0ken-2")
	replace(t, secret, "")
	c.want("of an empty file", "/a", "t0ken-2")
	if said := lines.String(); !strings.Contains(said, "what it was before stays") || strings.Contains(said, "t0ken") {
		t.Errorf("the log says %s", said)
	}
	replace(t, secret, "t0ken-3")
	c.want("of the whole file", "/a", "t0ken-3")
}

// What there was at the start does what the file says when it is read again. What is gone from it stays as it was.
func TestReload(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "token")
	replace(t, secret, "t0ken-1")
	c := newCaller(t, secret, "on_success: {command: [x]}\n")
	replace(t, c.Path, strings.ReplaceAll(liveFile, "SECRET", secret)+"handlers: twice\n")
	if err := c.Reload(); err == nil || !strings.Contains(err.Error(), "stands twice") {
		t.Errorf("a file with a mistake: %v", err)
	}
	c.want("of a file with a mistake", "/a", "t0ken-1")
	replace(t, c.Path, strings.ReplaceAll(strings.ReplaceAll(liveFile, "SECRET", secret), "SERVER}/a", "SERVER}/new"))
	if err := c.Reload(); err != nil {
		t.Error(err)
	}
	c.want("of another URL", "/new", "t0ken-1")
	replace(t, c.Path, "handlers: {}\n")
	if err := c.Reload(); err != nil {
		t.Error(err)
	}
	c.want("gone from the file", "/new", "t0ken-1")
	if err := (&Config{}).Reload(); err == nil {
		t.Error("without a file it is read again")
	}
}
