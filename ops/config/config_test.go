package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nextrun.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadTakesEveryKey(t *testing.T) {
	t.Parallel()
	path := write(t, `
database: {connect_timeout: 1s, statement_timeout: 2s, lock_timeout: 3s, idle_timeout: 4s, max_conns: 5, poll_only: true}
scheduler: {batch_size: 6, lease: 7s, lead: 2s, poll_interval: 8s, retry_min: 9ms, retry_max: 10s, retention: {ticks: 0, jobs: 168h, events: 2400h}, lock: {name: l, ttl: 22s, heartbeat: 1s}}
executor:
  pool_size: 11
  groups: [a, b]
  high: 12
  low: 13
  poll_interval: 15s
  retry_delay: 16s
  retry_cap: 17m
  retry_limit: 0
  max_interrupts: 18
  shutdown_grace: 0s
handlers:
  mail: {command: [echo, "a b", "1"], timeout: 19s, kill_grace: 20s, dir: /tmp, env: {A: "1", B: x=y}, max_output: 2KiB, retry_limit: 0, retry_delay: 23s}
  ping: {http: {method: GET, url: "https://example.org/", headers: {x-a: b}, header_env: {authorization: TOKEN}}, timeout: 21s}
  post: {http: {url: "http://example.org/"}}
`)
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Path: path,
		Database: store.Options{
			ConnectTimeout: time.Second, StatementTimeout: 2 * time.Second, LockTimeout: 3 * time.Second,
			IdleTimeout: 4 * time.Second, MaxConns: 5, PollOnly: true,
		},
		Scheduler: scheduler.Config{
			BatchSize: 6, Lease: 7 * time.Second, Lead: 2 * time.Second, PollInterval: 8 * time.Second,
			RetryMin: 9 * time.Millisecond, RetryMax: 10 * time.Second,
			Retention: scheduler.Retention{Ticks: scheduler.Forever, Jobs: 168 * time.Hour, Events: 2400 * time.Hour},
			Lock:      scheduler.LockConfig{Name: "l", TTL: 22 * time.Second, Heartbeat: time.Second},
		},
		Executor: executor.Config{
			PoolSize: 11, Groups: []string{"a", "b"}, High: 12, Low: 13,
			PollInterval: 15 * time.Second, RetryDelay: 16 * time.Second, RetryCap: 17 * time.Minute,
			RetryLimit: executor.Never, MaxInterrupts: 18, ShutdownGrace: -1,
		},
		Handlers: map[string]Handler{
			"mail": {Command: &handlers.CommandConfig{
				Argv: []string{"echo", "a b", "1"}, Timeout: 19 * time.Second, KillGrace: 20 * time.Second,
				Dir: "/tmp", Env: []string{"A=1", "B=x=y"}, MaxOutput: 2048,
			}, Limits: jobqueue.Limits{RetryLimit: executor.Never, RetryDelay: 23 * time.Second}},
			"ping": {HTTP: &handlers.HTTPConfig{
				Method: "GET", URL: "https://example.org/", Header: map[string][]string{"X-A": {"b"}}, Timeout: 21 * time.Second,
			}, headerEnv: map[string]string{"authorization": "TOKEN"}},
			"post": {HTTP: &handlers.HTTPConfig{Method: "POST", URL: "http://example.org/"}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	env := map[string]string{"TOKEN": "secret"}
	if built, err := got.Build(func(name string) string { return env[name] }, nil); err != nil || len(built) != 3 {
		t.Errorf("Build makes %d handlers (%v), want 3", len(built), err)
	}
	delete(env, "TOKEN")
	if _, err := got.Build(func(name string) string { return env[name] }, nil); err == nil || !strings.Contains(err.Error(), "TOKEN") {
		t.Errorf("Build without the variable: %v", err)
	}
}

func TestReadOfAnEmptyFileIsDefault(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# nothing\n", "handlers:\n", "executor: {}\n"} {
		got, err := Read(write(t, text))
		if err != nil || len(got.Handlers) > 0 || !reflect.DeepEqual(got.Executor, executor.Config{}) {
			t.Errorf("%q: got %+v, %v; want defaults", text, got, err)
		}
	}
}

// Each of these is refused with the line and a text that helps.
func TestReadNamesTheLine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, want string
	}{
		{"unknown section", "executor: {}\nexecutors: {}\n", `:2: unknown key "executors" in the file; known are database, executor, handlers, `},
		{"unknown key", "executor:\n  pool: 3\n", `:2: unknown key "pool" in executor; known are groups, `},
		{"twice", "handlers:\n  a: {command: [x]}\n  a: {command: [y]}\n", `:3: "a" stands twice in handlers`},
		{"number", "executor:\n\n  pool_size: many\n", ":3: executor.pool_size must be a whole number from 1 to 10000"},
		{"bound", "executor: {pool_size: 0}\n", ":1: executor.pool_size must be a whole number from 1 to 10000"},
		{"duration", "scheduler:\n  lease: 30\n", ":2: scheduler.lease must be a duration from 1s to 1000h, such as 30s"},
		{"lead", "scheduler:\n  lead: -1s\n", ":2: scheduler.lead must be a duration from 1ms to 10s, at most a third of lease, or 0, such as"},
		{"lead of a lease", "scheduler: {lease: 9s,\n lead: 4s}\n", ":2: scheduler.lead must be a duration from 1ms to 3s, at most a third of lease"},
		{"heartbeat", "scheduler:\n  lock: {ttl: 5s,\n    heartbeat: 4s}\n", ":3: scheduler.lock.heartbeat must be a duration from 10ms to 1.666s, a third of ttl"},
		{"heartbeat of the default ttl", "scheduler: {lock: {heartbeat: 21s}}\n", ":1: scheduler.lock.heartbeat must be a duration from 10ms to 10s, a third of ttl"},
		{"boolean", "database: {poll_only: 'true'}\n", ":1: database.poll_only must be true or false"},
		{"list for a mapping", "executor: [1]\n", ":1: executor must be a mapping"},
		{"text for the file", "hello\n", ":1: the file must be a mapping"},
		{"shell", "handlers:\n  a:\n    command: echo hello\n", ":3: handlers.a.command must be a list of the program and its arguments"},
		{"argument", "handlers: {a: {command: [sleep, 5]}}\n", `:1: handlers.a.command[1] must be a text; write "5" in quotes`},
		{"SQL that commits", "handlers:\n  a:\n    sql: COMMIT\n", ":3: handlers.a.sql: COMMIT: the job has one transaction"},
		{"two statements in a text", "handlers:\n  a:\n    sql: INSERT INTO t VALUES (1); COMMIT\n", ":3: handlers.a.sql: this is more than one statement; write a list of them"},
		{"SQL outside of transactions", "handlers: {a: {sql: [ANALYZE, VACUUM]}}\n", ":1: handlers.a.sql: statement 2: VACUUM: it cannot run in a transaction"},
		{"SQL for the connection", "handlers: {a: {sql: SET ROLE x}}\n", ":1: handlers.a.sql: SET: it would change the connection"},
		{"no SQL", "handlers: {a: {sql: '-- none'}}\n", ":1: handlers.a.sql: there is no statement"},
		{"SQL and a command", "handlers: {a: {sql: SELECT 1, command: [x]}}\n", ":1: handlers.a has both command and sql; use one"},
		{"no program", "handlers: {a: {command: ['']}}\n", ":1: handlers.a.command must begin with a program"},
		{"no command", "handlers:\n  a:\n    timeout: 1s\n", ":3: handlers.a needs one of command, http and sql"},
		{"both", "handlers: {a: {command: [x], http: {url: 'http://x'}}}\n", ":1: handlers.a has both command and http; use one"},
		{"misspelt command", "handlers:\n  a: {comand: [x]}\n", `:2: unknown key "comand" in handlers.a; known are command, dir, env, http, `},
		{"text for a handler", "handlers:\n  a: echo hello\n", ":2: handlers.a must be a mapping"},
		{"no handler", "handlers:\n  a:\n", ":2: handlers.a needs one of command, http and sql"},
		{"dir of http", "handlers: {a: {dir: x, http: {url: 'http://x'}}}\n", `:1: unknown key "dir" in handlers.a; known are http, on_failure, on_missed, on_paused, on_recovered, on_success, retry_delay, retry_limit, timeout`},
		{"limit", "handlers:\n  a:\n    command: [x]\n    retry_limit: -1\n", ":4: handlers.a.retry_limit must be a whole number from 1 to 1000000, or 0"},
		{"no url", "handlers: {a: {http: {method: GET}}}\n", ":1: handlers.a.http needs a url"},
		{"url", "handlers: {a: {http: {url: 'ftp://u:secret@x'}}}\n", ":1: handlers.a.http.url must be a URL such as https://"},
		{"method", "handlers: {a: {http: {url: 'http://x', method: get}}}\n", ":1: handlers.a.http.method must be one of GET, "},
		{"variable", "handlers: {a: {command: [x], env: {A=B: c}}}\n", `:1: handlers.a.env: "A=B" cannot name a variable`},
		{"size", "handlers: {a: {command: [x], max_output: 1XB}}\n", ":1: handlers.a.max_output must be a number of bytes"},
		{"list as a key", "executor: {[a]: 1}\n", ":1: a key in executor must be a name"},
		{"alias of itself", "handlers: &a {x: *a}\n", `:1: unknown key "x" in handlers.x`},
		{"alias", "executor: {groups: &g [5]}\nhandlers: {a: {command: *g}}\n", `:1: handlers.a.command[0] must be a text; write "5" in quotes`},
		{"date for a text", "handlers: {a: {command: [echo, 2026-01-01]}}\n", `:1: handlers.a.command[1] must be a text; write "2026-01-01" in quotes`},
		{"limit of refusals", "relay: {topics: {a: {webhook: {url: 'http://x'},\n refusal_limit: 1001}}}\n", ":2: relay.topics.a.refusal_limit must be a whole number from 1 to 1000, or 0"},
		{"two documents", "executor: {}\n---\nexecutor: {}\n", ": the file must hold one YAML document"},
		{"no YAML", "executor: [\n", ":1: did not find"},
		{"tab", "executor:\n\tpool_size: 1\n", ":2: found character that cannot start any token"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, test.text)
			_, err := Read(path)
			var configErr *Error
			if !errors.As(err, &configErr) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant the path and %s", err, test.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%v shows a password", err)
			}
		})
	}
}

// Every key refuses a value of the wrong kind, on its line.
func TestEveryKeyIsChecked(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, mapping := range []string{
		"database: {%s}", "scheduler: {%s}", "scheduler: {lock: {%s}}", "executor: {%s}",
		"handlers: {a: {command: [x], %s}}", "handlers: {a: {http: {%s}}}", "handlers: {a: {http: {url: 'http://x'}, %s}}", "handlers: {a: {sql: SELECT 1, %s}}",
		"relay: {%s}", "relay: {topics: {a: {webhook: {%s}}}}",
		"relay: {topics: {a: {kafka: {%s}}}}", "relay: {topics: {a: {kafka: {sasl: {%s}}}}}",
	} {
		_, err := parse("f", fmt.Appendf(nil, mapping, "bogus: 1"))
		for key := range strings.SplitSeq(knownKeys.FindStringSubmatch(err.Error())[1], ", ") {
			if strings.Contains(mapping, key+": [") || strings.Contains(mapping, key+": {url") || key == "http" || key == "sql" {
				continue // set already
			}
			text := fmt.Appendf(nil, mapping, "\n"+key+": [[]]")
			if _, err := parse("f", text); err == nil || !regexp.MustCompile(`f:2: \S+\.`+key+`\b.* must be `).MatchString(err.Error()) {
				t.Errorf("%s: %v", text, err)
			}
			checked++
		}
	}
	if checked < 50 {
		t.Errorf("checked %d keys only", checked)
	}
}

// The packages that own the settings say what fits together. Where the file leaves
// a setting out, its default counts.
func TestReadAsksTheOwnersOfSettings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"executor: {retry_limit: -1}\n":                ":1: executor.retry_limit must be a whole number from 1 to 1000000, or 0",
		"scheduler:\n  retry_min: 5m\n":                ":2: scheduler.retry_max is 10s unless set, but must be a duration from retry_min (5m0s)",
		"scheduler:\n  retention: {ticks: 59m}\n":      ":2: scheduler.retention.ticks must be a duration from 1h0m0s to 876000h0m0s, or 0,",
		"scheduler:\n  retention: {events: 1h}\n":      ":2: scheduler.retention.events must be a duration from 24h0m0s",
		"scheduler:\n  retention: 30\n":                ":2: scheduler.retention must be",
		"scheduler: {retry_min: x,\n retry_max: 2s}\n": ":1: scheduler.retry_min must be a duration from 1ms",
		"scheduler: {lock: {name: \"a\\tb\"}}\n":       ":1: scheduler.lock.name must be 1 to 254 bytes without control characters",
	} {
		_, err := Read(write(t, text))
		var configErr *Error
		if !errors.As(err, &configErr) || len(configErr.Problems) != 1 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v\nwant %s", text, err, want)
		}
	}
}

func TestReadReportsAllProblemsInOrder(t *testing.T) {
	t.Parallel()
	_, err := Read(write(t, "handlers:\n  b: {command: 1}\n  a: {command: 2}\nexecutor: {low: 0}\n"))
	var configErr *Error
	if !errors.As(err, &configErr) || len(configErr.Problems) != 3 {
		t.Fatalf("got %v, want three problems", err)
	}
	for i, want := range []int{2, 3, 4} {
		if configErr.Problems[i].Line != want {
			t.Errorf("problem %d is of line %d, want %d", i, configErr.Problems[i].Line, want)
		}
	}
}

func TestReadOfNoFile(t *testing.T) {
	t.Parallel()
	if _, err := Read(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want one that wraps os.ErrNotExist", err)
	}
}

// Commands get no secrets of nextrun's, unless the handler names the variable.
func TestCommandsGetNoSecrets(t *testing.T) {
	t.Parallel()
	c, err := Read(write(t, `
handlers:
  dump: {command: [env], env: {PGPASSWORD: , LANG: C}}
  call: {http: {url: 'http://x', header_env: {Authorization: CALL_TOKEN}}}
relay:
  topics:
    a: {webhook: {url: 'http://x', secret_env: [NEW_KEY, OLD_KEY], header_env: {X-Key: HOOK_KEY}}}
    b: {kafka: {brokers: ['k:9092'], tls: true, sasl: {mechanism: plain, user: u, password_env: KAFKA_PASSWORD}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(slices.Values(c.secretVariables()))
	want := []string{"CALL_TOKEN", "HOOK_KEY", "KAFKA_PASSWORD", "NEW_KEY", "NEXTRUN_DB", "NEXTRUN_DB_FILE", "OLD_KEY", "PGPASSWORD"}
	if !slices.Equal(got, want) {
		t.Errorf("commands do not get %q, want %q", got, want)
	}
	if h := c.Handlers["dump"]; !slices.Equal(h.inherited, []string{"PGPASSWORD"}) || !slices.Equal(h.Command.Env, []string{"LANG=C"}) {
		t.Errorf("got %+v", h)
	}
}
