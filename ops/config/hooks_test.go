package config

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue/hooks"
)

const hooksFile = `
on_failure: {command: [notify, --ops], timeout: 5s, env: {LEVEL: high, TOKEN: "${TOKEN}"}}
on_missed: {url: "https://example.org/T0KEN12345"}
handlers:
  backup: {command: ["true"], on_failure: {url: "${WEBHOOK}"}, on_success: none}
  call: {http: {url: "https://example.org"}, on_success: {submit: next}}
tasks:
  nightly:
    on_success: {submit: verify}
    on_missed: none
    ping: https://hc-ping.com/5bf66975
  weekly: {ping: "${PING}"}
`

func TestHooksOfTheFile(t *testing.T) {
	t.Parallel()
	c, err := parse("nextrun.yaml", []byte(hooksFile), func(name string) string { return "https://example.org/" + name })
	if err != nil {
		t.Fatal(err)
	}
	h, err := c.BuildHooks()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range h.List() {
		name := one.Name
		if one.Action == hooks.None {
			name += "=none"
		}
		if one.Action.Submit != "" {
			name += "=" + one.Action.Submit
		}
		names = append(names, name)
	}
	want := "on_failure on_missed handlers.backup.on_failure handlers.backup.on_success=none handlers.call.on_success=next " +
		"tasks.nightly.on_success=verify tasks.nightly.on_missed=none tasks.nightly.ping tasks.weekly.ping"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
