package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/watched"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// mistakes are files with one mistake, and what is said of it, behind the line.
var mistakes = map[string]string{
	// What holds for each section.
	"executor: {}\nexecutors: {}\n":                         `2: unknown key "executors" in the file; known are database, executor, handlers, `,
	"executor:\n  pool: 3\n":                                `2: unknown key "pool" in executor; known are groups, `,
	"handlers:\n  a: {command: [x]}\n  a: {command: [y]}\n": `3: "a" stands twice in handlers`,
	"executor:\n\n  pool_size: many\n":                      "3: executor.pool_size must be a whole number from 1 on",
	"executor: {pool_size: 0}\n":                            "1: executor.pool_size must be a whole number from 1 on",
	"executor: {retry_limit: -1}\n":                         "1: executor.retry_limit must be a whole number from 1 on, or 0",
	"database: {poll_only: 'true'}\n":                       "1: database.poll_only must be true or false",
	"executor: [1]\n":                                       "1: executor must be a mapping",
	"hello\n":                                               "1: the file must be a mapping",
	"executor: {[a]: 1}\n":                                  "1: a key in executor must be a name",
	"handlers: &a {x: *a}\n":                                `1: handlers.x needs one of command, http, sql`,
	"executor: [\n":                                         "1: did not find",
	"executor:\n\tpool_size: 1\n":                           "2: found character that cannot start any token",
	"relay: {retry_min: x,\n retry_max: 2s}\n":              "1: relay.retry_min must be a duration above 0, such as 30s",
	"executor:\n  retry_cap: 1ms\n":                         "2: executor.retry_delay is 10s unless set, but must be a duration from 1ns to retry_cap (1ms)",
	"scheduler: {lease: 9s,\n lead: 4s}\n":                  "2: scheduler.lead must be a duration from 1ms to 3s, at most a third of lease",
	"scheduler: {lock: {heartbeat: 21s}}\n":                 "1: scheduler.lock.heartbeat must be a duration from 10ms to 10s, a third of ttl",
	"scheduler: {lock: {name: \"a\\tb\"}}\n":                "1: scheduler.lock.name must be 1 to 254 bytes without control characters",
	"scheduler:\n  retention: {ticks: 59m}\n":               "2: scheduler.retention.ticks must be a duration from 1h0m0s to 876000h0m0s, or 0,",
	"scheduler:\n  retention: 30\n":                         "2: scheduler.retention must be",
	"relay: {topics: {a: {webhook: {url: 'http://x'},\n refusal_limit: 1001}}}\n": "2: relay.topics.a.refusal_limit must be a whole number from 1 to 1000, or 0",
	// Handlers.
	"handlers:\n  a:\n    command: echo hello\n":                   "3: handlers.a.command must be a list of texts such as [echo, hello]; a text is not split into words",
	"handlers: {a: {command: [sleep, 5]}}\n":                       `1: handlers.a.command[1] must be a text; write "5" in quotes`,
	"handlers: {a: {command: ['']}}\n":                             "1: handlers.a.command must be the program and its arguments",
	"handlers:\n  a: {comand: [x]}\n":                              `2: handlers.a needs one of command, http, sql; its first key is "comand"`,
	"handlers: {a: {command: [x], http: {url: 'http://x'}}}\n":     "1: handlers.a has both command and http; use one",
	"handlers:\n  a: echo hello\n":                                 "2: handlers.a needs one of command, http, sql",
	"handlers: {a: {dir: x, http: {url: 'http://x'}}}\n":           `1: unknown key "dir" in handlers.a; known are http, on_failure, `,
	"handlers: {a: {command: [x], env: {A=B: c}}}\n":               `1: handlers.a.env: "A=B" cannot name a variable`,
	"handlers: {a: {command: [x], max_output: 1MB}}\n":             "1: handlers.a.max_output must be a whole number",
	"handlers: {a: {http: {method: GET}}}\n":                       "1: handlers.a.http needs url, a URL such as https://",
	"handlers: {a: {http: {url: 'ftp://u:T0KEN@x'}}}\n":            "1: handlers.a.http.url must be a URL such as https://",
	"handlers: {a: {http: {url: 'http://x', method: get}}}\n":      "1: handlers.a.http.method must be one such as GET or POST",
	"handlers:\n  a:\n    sql: INSERT INTO t VALUES (1); COMMIT\n": "3: handlers.a.sql: this is more than one statement; write a list of them",
	"handlers: {a: {sql: [ANALYZE, VACUUM]}}\n":                    "1: handlers.a.sql: statement 2: VACUUM: it cannot run in a transaction",
	"handlers: {a: {sql: '-- none'}}\n":                            "1: handlers.a.sql: there is no statement",
	// Hooks.
	"on_failure: never":                               "1: on_failure needs one of command, url, submit",
	"on_failure: {url: 'http://x', submit: a}":        "1: on_failure has both url and submit; use one",
	"on_failure: {command: [x], timeout: 9999h}":      "1: on_failure.timeout must be",
	"on_failure: {command: [x], headers: {}}":         `1: unknown key "headers" in on_failure; known are command, dir, env, first, kill_grace, max_output, timeout`,
	"on_success: {submit: a, first: true}":            `1: unknown key "first" in on_success; known are submit`,
	"on_failure: {url: 'ftp://x/T0KEN'}":              "1: on_failure.url must be a URL such as",
	"on_failure: {submit: ''}":                        "1: on_failure.submit must be the id of a periodic task",
	"handlers: {a: {command: [x], ping: 'http://x'}}": `1: unknown key "ping" in handlers.a`,
	"on_failure: {url: 'http://x', secret: T0KEN}":    "1: on_failure.secret must be ${NAME} or ${file:PATH}",
	"tasks: {a: {timer: daily}}":                      `1: unknown key "timer" in tasks.a; known are on_failure, on_missed, on_paused, on_recovered, on_success, ping`,
	// Queues.
	"queues: {a: {}}":                                                            "1: queues.a.type must be one of graphile-worker, pg-boss, pgmq, river, sql",
	"queues: {a: {type: rabbit}}":                                                "1: queues.a.type must be one of graphile-worker, pg-boss, pgmq, river, sql",
	"queues: {a: {type: river, schma: x}}":                                       `1: unknown key "schma" in queues.a; known are gone, max_attempts`,
	"queues: {a: {type: river, max_attempts: 100000}}":                           "1: queues.a.max_attempts must be a whole number from 1 to ",
	"queues: {a: {type: river, schema: 'a\"b'}}":                                 "1: queues.a.schema must be ",
	"queues: {job: {type: river}}":                                               `1: unknown key "type" in queues.job; known are notify`,
	"queues: {River: {type: river}}":                                             `1: queues.River: "River" cannot name a queue; use up to 64 lower-case letters`,
	"queues: {a: {type: sql, pending: SELECT 1 FROM nextrun_open}}":              "1: queues.a needs enqueue, a statement that adds the jobs of nextrun_batch",
	"queues: {a: {type: sql, enqueue: INSERT nextrun_batch, pending: SELECT 1}}": "1: queues.a.pending must be a statement that looks for the jobs of nextrun_open",
	"queues: {job: {notify: false}}":                                             `1: queues.job.notify must be a text; write "false" in quotes`,
	// Topics.
	"relay: {topics: {t: {}}}":                                                             "1: relay.topics.t needs one of webhook, kafka",
	"relay: {topics: {t: {webhook: {mode: binary}}}}":                                      "1: relay.topics.t.webhook needs url, a URL such as",
	"relay: {topics: {t: {webhook: {url: 'http://x', mode: odd}}}}":                        "1: relay.topics.t.webhook.mode must be structured or binary",
	"relay: {topics: {t: {kafka: {topic: x}}}}":                                            "1: relay.topics.t.kafka needs brokers, HOST:PORT",
	"relay: {topics: {t: {kafka: {brokers: ['k:1'], sasl: {mechanism: plain, user: u}}}}}": "1: relay.topics.t.kafka.sasl needs password",
	// Files of tasks.
	"task: {}\n":                                              `1: unknown key "task" in the file; known are calendars, tasks`,
	"tasks:\n  a: {handler: x}\n":                             "2: tasks.a needs a timer",
	"tasks: {a: {handler: 5, timer: daily}}\n":                `1: tasks.a.handler must be a text; write "5" in quotes`,
	"tasks: {a: {handler: t, timer: daily, starts: soon}}\n":  "1: tasks.a.starts must be a time from 1970 on",
	"tasks: {a: {handler: t, timer: daily, grace: soon}}\n":   "1: tasks.a.grace must be whole seconds",
	"tasks: {a: {handler: t, timer: daily, priority: high}}":  "1: tasks.a.priority must be a whole number",
	"tasks: {a: {handler: t, timer: daily, args: {x: .nan}}}": "1: tasks.a.args cannot be JSON",
}

// Each mistake is refused with its line and a text that helps, and without what may be a secret.
func TestMistakesAreNamed(t *testing.T) {
	t.Parallel()
	for text, want := range mistakes {
		_, err := parse("f", []byte(text), noEnv)
		if strings.Contains(text, "handler:") || strings.HasPrefix(text, "task:") {
			_, err = ParseTasks("f", []byte(text))
		}
		var configErr *Error
		if !errors.As(err, &configErr) || !strings.HasPrefix(err.Error(), "f:"+want) || len(configErr.Problems) != 1 || strings.Contains(err.Error(), "T0KEN") {
			t.Errorf("%s\n got %v\nwant f:%s", text, err, want)
		}
	}
}

// knownKeys finds the keys in the complaint about one that is not known.
var knownKeys = regexp.MustCompile(`known are (.*)`)

// The sample shows every key that there is, and every key refuses a value of the wrong kind, on its line.
func TestEveryKeyIsCheckedAndInTheSample(t *testing.T) {
	t.Parallel()
	sample := readSample(t)
	for _, mapping := range []string{
		"%s", "database: {%s}", "scheduler: {%s}", "scheduler: {lock: {%s}}", "executor: {%s}",
		"handlers: {a: {command: [x], %s}}", "handlers: {a: {http: {%s}}}", "handlers: {a: {http: {url: 'http://x'}, %s}}", "handlers: {a: {sql: SELECT 1, %s}}",
		"relay: {%s}", "relay: {topics: {a: {webhook: {%s}}}}", "relay: {topics: {a: {kafka: {brokers: ['k:1']}, %s}}}",
		"relay: {topics: {a: {kafka: {%s}}}}", "relay: {topics: {a: {kafka: {sasl: {%s}}}}}",
		"tasks: {a: {%s}}", "on_failure: {command: [x], %s}", "on_failure: {submit: x, %s}", "on_failure: {url: 'http://x', %s}",
		"queues: {a: {type: river, %s}}", "queues: {a: {type: graphile-worker, %s}}", "queues: {a: {type: pg-boss, %s}}",
		"queues: {a: {type: pgmq, %s}}", "queues: {a: {type: sql, enqueue: x, pending: x, %s}}", "queues: {job: {%s}}",
	} {
		_, err := parse("f", fmt.Appendf(nil, mapping, "bogus: 1"), noEnv)
		match := knownKeys.FindStringSubmatch(fmt.Sprint(err))
		if match == nil {
			t.Fatalf("%s: %v", mapping, err)
		}
		for key := range strings.SplitSeq(match[1], ", ") {
			if !regexp.MustCompile(`\b` + key + `\b`).MatchString(sample) {
				t.Errorf("testdata/nextrun.yaml lacks %s of %s", key, mapping)
			}
			if strings.Contains(mapping, key+": ") {
				continue // set already
			}
			text := fmt.Appendf(nil, mapping, "\n"+key+": [[]]")
			if _, err := parse("f", text, noEnv); err == nil || !regexp.MustCompile(`f:\d: (\S+\.)?`+key+`\b.* must be |one of |; use one`).MatchString(err.Error()) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// noEnv has no variables.
func noEnv(string) string { return "" }

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nextrun.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Keys of handlers are read, and 0 where it stands for never or at once; that the others are read is seen of the sample.
func TestReadTakesEveryKey(t *testing.T) {
	t.Parallel()
	path := write(t, `
scheduler: {retention: {ticks: 0}}
executor: {retry_limit: 0, shutdown_grace: 0s}
handlers:
  mail: {command: [echo, "a b", "1"], timeout: 19s, kill_grace: 20s, dir: /tmp, env: {A: "1", B: x=y}, max_output: 2048, retry_limit: 0, retry_delay: 23s}
  ping: {http: {method: GET, url: "https://example.org/", headers: {x-a: b}}, timeout: 21s}
  post: {http: {url: "http://example.org/"}}
`)
	got, err := Read(path, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	got.source = nil
	want := &Config{
		files:     &watched.Files{},
		Path:      path,
		Scheduler: scheduler.Config{Retention: scheduler.Retention{Ticks: scheduler.Forever}},
		Executor:  executor.Config{RetryLimit: executor.Never, ShutdownGrace: -1},
		lacking:   map[string]error{},
		Handlers: map[string]Handler{
			"mail": {Command: &handlers.CommandConfig{
				Argv: []string{"echo", "a b", "1"}, Timeout: 19 * time.Second, KillGrace: 20 * time.Second,
				Dir: "/tmp", Env: []string{"A=1", "B=x=y"}, MaxOutput: 2048,
			}, Limits: jobqueue.Limits{RetryLimit: executor.Never, RetryDelay: 23 * time.Second}},
			"ping": {HTTP: &handlers.HTTPConfig{
				Method: "GET", URL: "https://example.org/", Header: map[string][]string{"X-A": {"b"}}, Timeout: 21 * time.Second,
			}},
			"post": {HTTP: &handlers.HTTPConfig{URL: "http://example.org/"}},
		},
	}
	if !reflect.DeepEqual(got, want) { //nolint:govet // none of the fields that may hold an error does
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestReadOfAnEmptyFileIsDefault(t *testing.T) {
	t.Parallel()
	if _, err := Read(filepath.Join(t.TempDir(), "none.yaml"), noEnv); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v, want one that wraps os.ErrNotExist", err)
	}
	for _, text := range []string{"", "# nothing\n", "handlers:\n", "executor: {}\n"} {
		got, err := Read(write(t, text), noEnv)
		if err != nil || len(got.Handlers) > 0 || !reflect.DeepEqual(got.Executor, executor.Config{}) {
			t.Errorf("%q: got %+v, %v; want defaults", text, got, err)
		}
	}
}

func TestReadReportsAllProblemsInOrder(t *testing.T) {
	t.Parallel()
	_, err := Read(write(t, "handlers:\n  b: {command: 1}\n  a: {command: 2}\nexecutor: {low: 0}\n"), noEnv)
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
