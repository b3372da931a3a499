package config

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// readNotify reads a text as the key notify of the queue job.
func readNotify(text string) (n *Notify, err error) {
	n = &Notify{}
	err = read("nextrun.yaml", []byte(text), func(r *reader, root *node) { n.read(r, "queues.job.notify", root) })
	return n, err
}

func TestNotify(t *testing.T) {
	t.Parallel()
	n, err := readNotify(`
method: PUT
url: https://worker.example.org/wake
headers: {x-sender: nextrun}
header_env: {authorization: WAKE_TOKEN}
timeout: 2s
`)
	if err != nil {
		t.Fatal(err)
	}
	c := &Config{Path: "nextrun.yaml", Notify: map[periodic.Sink]*Notify{"job": n, "legacy": {Off: true}}}
	built, err := c.BuildNotify(func(name string) string { return map[string]string{"WAKE_TOKEN": "Bearer s3cret"}[name] })
	if err != nil || len(built) != 1 {
		t.Fatalf("built %d: %v", len(built), err)
	}
	got := built[0]
	if got.Sink != periodic.SinkJob || got.Method != http.MethodPut || got.URL != "https://worker.example.org/wake" ||
		got.Timeout != 2*time.Second ||
		got.Header.Get("X-Sender") != "nextrun" || got.Header.Get("Authorization") != "Bearer s3cret" {
		t.Errorf("got %+v", got)
	}
	if variables := strings.Join(c.secretVariables(), " "); !strings.Contains(variables, "WAKE_TOKEN") {
		t.Errorf("commands of handlers would inherit WAKE_TOKEN; the secrets are %s", variables)
	}
	for value, want := range map[string]string{
		"":          "queues.job.notify: the environment variable WAKE_TOKEN for the header authorization is not set",
		"s3cret\nX": "queues.job.notify: notify.Config.Header is not usable for \"Authorization\"",
	} {
		_, err := c.BuildNotify(func(string) string { return value })
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("with %q the error is %v, want %s", value, err, want)
		}
	}
}

func TestBadNotify(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"true":                                   "queues.job.notify must be a mapping with a url, or false",
		"https://example.org":                    "queues.job.notify must be a mapping with a url, or false",
		"{method: POST}":                         "queues.job.notify needs a url",
		"{url: worker}":                          "queues.job.notify.url must be a URL such as https://example.org/wake",
		"{url: 'http://w', methd: GET}":          `unknown key "methd" in queues.job.notify`,
		"{url: 'http://w', method: get}":         "queues.job.notify.method must be one of GET",
		"{url: 'http://w', timeout: 2h}":         "queues.job.notify.timeout must be a duration from 1ms to 1h",
		"{url: 'http://w', headers: {'X Y': z}}": "queues.job.notify.headers must be a name such as X-Token",
	} {
		_, err := readNotify(text)
		if err == nil || !strings.Contains(err.Error(), "nextrun.yaml:1: "+want) {
			t.Errorf("%s: the error is %v, want %s", text, err, want)
		}
	}
	if n, err := readNotify("false"); err != nil || !n.Off {
		t.Errorf("false: %+v, %v", n, err)
	}
}
