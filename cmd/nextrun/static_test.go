//go:build builds

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// Without cgo there is a program for PostgreSQL, which says why it has no SQLite.
func TestBuildWithoutCgo(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "nextrun")
	for _, how := range []struct{ variable, tags string }{{"CGO_ENABLED=0", ""}, {"CGO_ENABLED=1", "nosqlite"}} {
		build := exec.CommandContext(t.Context(), "go", "build", "-tags", how.tags, "-o", binary, ".")
		build.Env = append(os.Environ(), how.variable)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", how, err, out)
		}
		run := func(args ...string) (string, error) {
			out, err := exec.CommandContext(t.Context(), binary, args...).CombinedOutput()
			return string(out), err
		}
		url := storetest.PostgresURL(t)
		if out, err := run("migrate", "up", "--db", url); err != nil {
			t.Errorf("%v: migrate up: %v\n%s", how, err, out)
		}
		if out, err := run("task", "add", "here", "--handler", "x", "--timer", "daily", "--db", url); err != nil {
			t.Errorf("%v: task add: %v\n%s", how, err, out)
		}
		out, err := run("migrate", "up", "--db", "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
		for _, want := range []string{"built without SQLite", "CGO_ENABLED=1", "nosqlite"} {
			if err == nil || !strings.Contains(out, want) {
				t.Errorf("%v: SQLite: %v, %s, want %q in it", how, err, out, want)
			}
		}
	}
}
