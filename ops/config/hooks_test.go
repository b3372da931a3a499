package config

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue/hooks"
)

const hooksFile = `
on_failure: {command: [notify, --ops], timeout: 5s, env: {LEVEL: high, TOKEN: }}
on_missed: {url: "https://example.org/T0KEN12345", secret_env: SECRET, header_env: {Authorization: AUTH}}
handlers:
  backup: {command: ["true"], on_failure: {url_env: WEBHOOK}, on_success: none}
  call: {http: {url: "https://example.org"}, on_success: {submit: next}}
tasks:
  nightly:
    on_success: {submit: verify}
    on_missed: none
    ping: https://hc-ping.com/5bf66975
  weekly: {ping: {url_env: PING}}
`

var hooksEnv = map[string]string{
	"SECRET": "raw:0123456789abcdef", "AUTH": "Bearer x", "WEBHOOK": "https://example.org/secret-path", "PING": "https://example.org/ping", "TOKEN": "t",
}

func TestHooksOfTheFile(t *testing.T) {
	t.Parallel()
	c, err := parse("nextrun.yaml", []byte(hooksFile))
	if err != nil {
		t.Fatal(err)
	}
	h, err := c.BuildHooks(func(name string) string { return hooksEnv[name] })
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
	secrets := " " + strings.Join(c.secretVariables(), " ") + " "
	for _, name := range []string{"SECRET", "AUTH", "WEBHOOK", "PING"} {
		if !strings.Contains(secrets, " "+name+" ") {
			t.Errorf("commands would inherit %s", name)
		}
		_, err := c.BuildHooks(func(asked string) string {
			if asked == name {
				return ""
			}
			return hooksEnv[asked]
		})
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "secret-path") || strings.Contains(err.Error(), "T0KEN") {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// Mistakes are named with their line and what to write instead.
func TestHooksThatAreWrong(t *testing.T) {
	t.Parallel()
	const forms = " must be none, or a mapping with one of command, url, url_env and submit"
	for text, want := range map[string]string{
		"on_failure: never":                                 "on_failure" + forms,
		"on_failure: {url: 'http://x', submit: a}":          "on_failure" + forms,
		"on_failure: {timeout: 5s}":                         "on_failure" + forms,
		"on_failure: {command: notify}":                     "on_failure.command must be a list of the program and its arguments",
		"on_failure: {command: [x], timeout: 9999h}":        "on_failure.timeout must be",
		"on_failure: {command: [x], headers: {}}":           `unknown key "headers" in on_failure; known are command, dir, env, first, timeout`,
		"on_success: {submit: a, first: true}":              "on_success.first: only on_failure can hear of the first failure in a row",
		"on_failure: {url: 'ftp://x/T0KEN'}":                "on_failure.url must be a URL such as",
		"on_failure: {submit: ''}":                          "on_failure.submit must be the id of a periodic task",
		"handlers: {a: {command: [x], ping: 'http://x'}}":   `unknown key "ping" in handlers.a`,
		"tasks: {a: {ping: 'hc-ping.com/T0KEN'}}":           "tasks.a.ping must be a URL such as https://hc-ping.com/UUID, or a mapping with url_env",
		"tasks: {a: {ping: {timeout: 5s}}}":                 `unknown key "timeout" in tasks.a.ping; known are url_env`,
		"tasks: {a: {timer: daily}}":                        `unknown key "timer" in tasks.a; known are on_failure, on_missed, on_paused, on_recovered, on_success, ping`,
		"tasks: {a: {on_success: {submit: b, url_env: X}}}": "tasks.a.on_success" + forms,
	} {
		_, err := parse("nextrun.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "nextrun.yaml:1: "+want) || strings.Contains(err.Error(), "T0KEN") {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}
