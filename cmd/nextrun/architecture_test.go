package main_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/nextrun/nextrun"

// The floors of the house, from the ground up. A package imports packages of its own room and of the floors below it.
var floors = []string{"internal", "calendar", "jobqueue", "periodic", "migrations", "store", "ops", "cmd"}

// Inside a room the arrows go down as well: what a package may not import, although the floors allow it. DIR/... is
// everything below DIR.
var barred = []struct {
	from string
	not  []string
}{
	{"internal/service", []string{"..."}},
	{"internal/sqldb", []string{"internal/sqldb/..."}},
	{"calendar/internal/...", []string{"calendar"}},
	{"jobqueue", []string{"jobqueue/..."}},
	{"jobqueue/executor/...", []string{"jobqueue/outbox/...", "jobqueue/hooks", "jobqueue/handlers"}},
	{"jobqueue/outbox", []string{"jobqueue/outbox/...", "jobqueue/executor/...", "jobqueue/hooks", "jobqueue/handlers"}},
	{"periodic", []string{"periodic/scheduler/...", "periodic/batch", "periodic/leader", "periodic/notify"}},
	{"periodic/leader", []string{"periodic/scheduler/..."}},
	{"migrations/...", []string{"periodic/...", "jobqueue/...", "calendar/..."}},
	// A program links no driver, and not what migrates, unless it imports it.
	{"store", []string{"store/postgres", "store/sqlite", "store/queues", "migrations"}},
	{"store/internal/...", []string{"store"}},
	{"ops/internal/...", []string{"ops/cli/...", "ops/dashboard/...", "ops/config"}},
	{"ops/dashboard/...", []string{"ops/cli/...", "ops/config"}},
	{"ops/metrics", []string{"ops/cli/...", "ops/config", "ops/dashboard/..."}},
	{"ops/config", []string{"ops/cli/..."}},
	{"ops/cli/ui", []string{"ops/cli/..."}},
}

// libraries are those with one place of their own: packages with what lies below them.
var libraries = map[string][]string{
	"database/sql":                     {"internal", "jobqueue", "periodic", "migrations", "store", "ops", "cmd"}, // timers are pure
	"github.com/lib/pq":                {"store/postgres"},
	"github.com/mattn/go-sqlite3":      {"store/sqlite"},
	"github.com/adhocore/gronx":        nil, // the reference of tests for cron expressions
	"github.com/pressly/goose":         {"migrations"},
	"github.com/twmb/franz-go":         {"ops/kafka"},
	"github.com/prometheus":            {"ops/metrics"},
	"github.com/arran4/golang-ical":    {"ops/ical"},
	"github.com/teambition/rrule-go":   {"ops/ical"},
	"go.opentelemetry.io":              {"ops/tracing"},
	"github.com/nextrun/nextrun/bench": nil,
}

// attics are directories that would gather what belongs elsewhere.
var attics = []string{"pkg", "util", "utils", "common", "helpers"}

func TestArchitecture(t *testing.T) {
	tree, err := readTree("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range floors {
		if !slices.ContainsFunc(tree, func(f sourceFile) bool { return within(f.path, room) }) {
			t.Errorf("found no Go file in %s; was it moved without a change of the rules here?", room)
		}
	}
	for _, violation := range check(tree) {
		t.Error(violation)
	}
}

func TestArchitectureRules(t *testing.T) {
	for _, test := range []struct{ file, imported, want string }{
		{"calendar/x.go", module + "/jobqueue", "is above it"},
		{"calendar/x.go", module + "/calendar/internal/elapse", ""},
		{"calendar/internal/elapse/x.go", module + "/calendar", "calendar/internal/... does not know"},
		{"calendar/x.go", "database/sql", "only internal, jobqueue"},
		{"calendar/x.go", "github.com/adhocore/gronx", "only tests"},
		{"internal/sqldb/x.go", module + "/periodic", "is above it"},
		{"internal/sqldb/x.go", module + "/internal/sqldb/postgres", "does not know"},
		{"internal/testkit/storetest/x.go", module + "/store", ""},
		{"store/x.go", module + "/internal/testkit/storetest", "is a kit for tests"},
		{"jobqueue/x.go", module + "/periodic", "is above it"},
		{"jobqueue/x.go", module + "/jobqueue/executor", "does not know"},
		{"periodic/x.go", module + "/periodic/batch", "does not know"},
		{"periodic/scheduler/x.go", module + "/store", "is above it"},
		{"store/internal/tasks/x.go", module + "/periodic/scheduler", ""},
		{"store/x.go", "github.com/lib/pq/oid", "only store/postgres"},
		{"store/x.go", "github.com/lib/pqueue", ""},
		{"store/postgres/x.go", "github.com/lib/pq", ""},
		{"ops/x.go", module + "/cmd/nextrun", "is above it"},
		{"ops/dashboard/x.go", module + "/ops/cli/ui", "does not know"},
		{"cmd/nextrun/x.go", module + "/ops/cli", ""},
		{"scripts/x/x.go", module + "/ops/config", ""},
		{"store/util/x.go", "time", "a directory of such a name"},
		{"web/x.go", "time", "web is no room of the house"},
		{"calendar/x_test.go", module + "/store", ""},
		{"testdata/util/x.go", module + "/store", ""},
	} {
		t.Run(test.file+" "+path.Base(test.imported), func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, filepath.Join(root, test.file), fmt.Sprintf("package x\n\nimport _ %q\n", test.imported))
			tree, err := readTree(root)
			if err != nil {
				t.Fatal(err)
			}
			got := check(tree)
			switch {
			case test.want == "" && len(got) > 0:
				t.Errorf("got %q, want no violation", got)
			case test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want) || !strings.HasPrefix(got[0], test.file)):
				t.Errorf("got %q, want one violation by %s with %q", got, test.file, test.want)
			}
		})
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
