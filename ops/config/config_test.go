package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/watched"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

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
