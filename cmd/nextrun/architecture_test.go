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

// The arrows: what each package may import of the module. The first entry that
// matches holds; DIR/... is everything below DIR. A sub-package without an entry
// of its own may import its parent only. Tests may import what they need.
var arrows = []struct {
	from string
	to   []string
}{
	// Test kits: only tests import them.
	{"internal/testkit/...", []string{"..."}},
	{"internal/cloudevents", []string{"jobqueue/outbox"}}, // for the publishers
	// Parts of nextrun that nobody else needs: see parts.
	{"internal/elapse", nil},
	// The database: all that have SQL stand on the connection, and not on one another.
	{"internal/sqldb", nil},
	{"internal/sqldb/...", []string{"internal/sqldb"}},
	{"internal/connect", []string{"internal/sqldb", "internal/sqldb/..."}},
	{"internal/figures", []string{"internal/sqldb", "internal/jobdb", "periodic/days", "periodic/sink", "periodic", "jobqueue"}},
	{"internal/neighbors", []string{"internal/sqldb"}}, // Docspell
	{"internal/statement", []string{"internal/sqldb", "jobqueue"}},
	{"internal/verify", []string{"store", "calendar", "internal/decide", "internal/sqldb", "migrations", "periodic", "periodic/days"}},
	{"internal/leader", nil},
	{"internal/finish", nil},
	{"internal/explain", []string{"calendar", "internal/elapse"}},
	{"internal/decide", []string{"calendar", "jobqueue", "periodic", "periodic/days", "periodic/sink"}}, // what becomes of ticks
	// It explains a task for the command line and the dashboard.
	{"internal/diagnosis", append([]string{"store"}, belowCommand...)},
	{"internal/jobdb", []string{"jobqueue"}},                                                                                        // what an executor asks of a database
	{"internal/taskdb", []string{"jobqueue", "internal/decide", "periodic", "internal/finish", "periodic/sink", "internal/leader"}}, // what a scheduler asks of a database
	{"internal/reasons", []string{"jobqueue", "periodic/sink"}},
	{"internal/...", nil}, // small tools that know nothing of nextrun; all but calendar may import them
	{"calendar", []string{"internal/elapse"}},
	{"periodic", []string{"calendar", "jobqueue", "periodic/days", "internal/finish", "periodic/sink"}}, // tasks, and interfaces of what runs
	{"periodic/scheduler", []string{"jobqueue", "internal/decide", "periodic", "internal/finish", "periodic/sink", "internal/leader", "internal/taskdb", "periodic/scheduler/internal/..."}},
	{"periodic/scheduler/internal/aside", []string{"internal/taskdb", "periodic"}},
	{"periodic/scheduler/internal/batch", []string{"calendar", "jobqueue", "internal/taskdb", "internal/decide", "periodic", "periodic/sink"}},
	{"periodic/scheduler/internal/search", []string{"internal/taskdb", "internal/decide", "periodic", "internal/leader", "periodic/scheduler/internal/aside", "periodic/scheduler/internal/batch"}},
	{"periodic/notify", []string{"periodic", "periodic/scheduler"}},
	{"periodic/days", []string{"calendar"}},
	{"periodic/sink", []string{"jobqueue"}},
	// A program of its own that is mounted into others: it knows what it shows.
	{"ops/dashboard", []string{"store", "internal/figures", "periodic", "periodic/sink", "periodic/days", "internal/leader", "jobqueue", "jobqueue/outbox", "calendar", "internal/explain", "internal/diagnosis", "ops/lifecycle", "ops/dashboard/internal/..."}},
	{"ops/dashboard/internal/show", []string{"jobqueue", "periodic"}},
	{"ops/dashboard/internal/chart", nil},
	{"ops/dashboard/internal/frame", []string{"ops/dashboard/internal/show", "ops/dashboard/internal/chart", "store"}},
	{"jobqueue", nil},
	{"jobqueue/executor", []string{"jobqueue", "internal/jobdb", "jobqueue/executor/internal/..."}},
	{"jobqueue/executor/internal/...", []string{"jobqueue", "internal/jobdb"}},
	{"jobqueue/hooks", []string{"jobqueue", "jobqueue/..."}},
	{"migrations", []string{"migrations/internal/..."}},
	{"migrations/internal/tables", nil},
	{"migrations/internal/...", []string{"migrations/internal/tables"}},
	// A program links no driver, and not what migrates, unless it imports it.
	{"store", []string{"store/internal/...", "internal/sqldb", "internal/connect", "calendar", "internal/taskdb", "internal/jobdb", "periodic", "periodic/sink", "internal/leader", "jobqueue", "jobqueue/..."}},
	{"store/postgres", []string{"internal/connect", "internal/sqldb", "internal/sqldb/postgres"}},
	{"store/sqlite", []string{"internal/connect", "internal/sqldb", "internal/sqldb/sqlite"}},
	// The kinds of other queues know the connection and what a submitter is.
	{"store/queues", []string{"store", "internal/sqldb", "jobqueue", "periodic", "periodic/sink"}},
	// The parts of the database know the connection, and not one another.
	{"store/internal/workers", []string{"internal/sqldb", "internal/service", "jobqueue", "internal/jobdb"}},
	{"store/internal/lock", []string{"internal/sqldb", "internal/leader", "store/internal/workers"}},
	{"store/internal/queue", []string{"store/internal/workers", "store/internal/turning", "internal/sqldb", "internal/jobdb", "jobqueue", "jobqueue/..."}},
	{"store/internal/...", []string{"store/internal/workers", "store/internal/turning", "internal/sqldb", "internal/decide", "store/internal/finishes", "calendar", "internal/taskdb", "internal/jobdb", "periodic", "periodic/days", "internal/finish", "periodic/sink", "internal/leader", "jobqueue", "jobqueue/..."}},
	{"jobqueue/outbox/webhook", []string{"jobqueue/outbox"}},
	{"jobqueue/outbox/relay", []string{"jobqueue/outbox"}},
	{"ops/tracing", []string{"jobqueue", "jobqueue/executor", "jobqueue/outbox", "jobqueue/outbox/relay"}},
	{"ops/metrics", []string{"store", "internal/figures", "calendar", "periodic", "periodic/sink", "periodic/scheduler", "jobqueue", "jobqueue/executor", "jobqueue/outbox", "jobqueue/outbox/relay"}},
	// A scheduler on a database of its own, with a clock that is moved.
	{"ops/nextruntest", []string{"periodic", "periodic/scheduler", "periodic/sink", "jobqueue", "jobqueue/executor", "migrations", "store", "store/sqlite", "internal/sqldb", "internal/verify"}},
	// What starts the parts of a process knows the database, and services by their interface.
	{"ops/lifecycle", []string{"store", "migrations"}},
	// Programs: they know everything, and nothing else knows them. Commands know
	// what they share and the few that show what they show.
	{"cmd/nextrun/cli/ui", append([]string{"cmd/nextrun/config", "store", "store/postgres", "store/sqlite", "store/queues"}, belowCommand...)},
	{"cmd/nextrun/cli/find", append([]string{"store"}, belowCommand...)},
	{"cmd/nextrun/cli/check", append([]string{"cmd/nextrun/cli/service"}, belowCommands...)},
	{"cmd/nextrun/cli/task", append([]string{"cmd/nextrun/cli/tick", "cmd/nextrun/cli/timer"}, belowCommands...)},
	{"cmd/nextrun/cli/why", append([]string{"cmd/nextrun/cli/tick"}, belowCommands...)},
	{"cmd/nextrun/cli/...", belowCommands},
	{"cmd/...", []string{"..."}},
	{"scripts/...", append([]string{"scripts/...", "store", "store/...", "internal/sqldb", "cmd/nextrun/config"}, belowCommand...)},
}

var belowCommand = []string{
	"calendar", "periodic", "periodic/...", "jobqueue", "jobqueue/...", "migrations", "migrations/...",
	"internal/explain", "internal/leader", "internal/finish", "internal/taskdb", "internal/jobdb", "internal/figures", "internal/neighbors",
	"internal/statement",
}

// parts are the packages below internal that know nextrun. Only those import them whose arrows say so.
var parts = []string{
	"internal/sqldb", "internal/sqldb/postgres", "internal/sqldb/sqlite", "internal/connect", "internal/figures",
	"internal/neighbors", "internal/statement", "internal/verify", "internal/elapse", "internal/leader", "internal/finish", "internal/decide", "internal/taskdb", "internal/jobdb", "internal/explain", "internal/diagnosis",
}

// belowCommands is what a command of nextrun may know.
var belowCommands = append([]string{
	"cmd/nextrun/cli/ui", "cmd/nextrun/cli/find", "cmd/nextrun/config", "cmd/nextrun/crontab", "cmd/nextrun/docspell", "cmd/nextrun/ical", "cmd/nextrun/kafka",
	"store", "store/queues", "internal/verify", "ops/dashboard", "internal/diagnosis", "ops/lifecycle", "ops/metrics",
}, belowCommand...)

// libraries are those with one place of their own: files, or whole packages
// with a slash at the end.
var libraries = []struct {
	library string
	places  []string
}{
	{"github.com/lib/pq", []string{"store/postgres/", "internal/testkit/storetest/"}},
	{"github.com/mattn/go-sqlite3", []string{"store/sqlite/", "internal/testkit/storetest/"}},
	{"github.com/adhocore/gronx", []string{"tests"}}, // the reference for cron expressions
	{"github.com/pressly/goose", []string{"migrations/"}},
	{"github.com/twmb/franz-go", []string{"cmd/nextrun/kafka/"}},
	{"github.com/prometheus", []string{"ops/metrics/"}},
	{"github.com/arran4/golang-ical", []string{"cmd/nextrun/ical/"}},
	{"github.com/teambition/rrule-go", []string{"cmd/nextrun/ical/"}},
	{"go.opentelemetry.io", []string{"ops/tracing/"}},
}

// directories that would gather what belongs elsewhere.
var attics = []string{"pkg", "util", "utils", "common", "helpers"}

func TestArchitecture(t *testing.T) {
	tree, err := readTree("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"calendar", "periodic", "jobqueue", "store", "migrations", "cmd/nextrun"} {
		if !slices.ContainsFunc(tree, func(f sourceFile) bool { return path.Dir(f.path) == dir }) {
			t.Errorf("found no Go file in %s; was it moved without a change of the rules here?", dir)
		}
	}
	for _, violation := range check(tree) {
		t.Error(violation)
	}
}

func TestArchitectureRules(t *testing.T) {
	const none = "may import nothing of the module"
	for _, test := range []struct{ file, imported, want string }{
		{"calendar/x.go", module + "/jobqueue", "calendar may import only internal/elapse"},
		{"calendar/x.go", module + "/internal/explain", "calendar may import only internal/elapse"},
		{"internal/explain/x.go", module + "/jobqueue", "internal/explain may import only calendar, internal/elapse"},
		{"internal/elapse/x.go", module + "/calendar", none},
		{"internal/elapse/x.go", "database/sql", "calendar is pure"},
		{"calendar/x.go", "database/sql", "calendar is pure"},
		{"calendar/x.go", "time", ""},
		{"calendar/x_test.go", "github.com/adhocore/gronx", ""},
		{"calendar/x.go", module + "/internal/isolate", "calendar may import only internal/elapse"},
		{"internal/isolate/x.go", module + "/store", "internal/isolate may import nothing of the module"},
		{"periodic/x.go", module + "/internal/isolate", ""},
		{"calendar/cronparse.go", "github.com/adhocore/gronx", "only tests may"},
		{"periodic/x.go", module + "/calendar", ""},
		{"periodic/x.go", module + "/jobqueue", ""},
		{"periodic/scheduler/x.go", module + "/internal/leader", ""},
		{"jobqueue/x.go", module + "/internal/leader", none},
		{"periodic/x.go", module + "/periodic/page", "periodic may import only calendar, jobqueue, periodic/days, internal/finish, periodic/sink"},
		{"periodic/x.go", module + "/periodic/scheduler", "periodic may import only"},
		{"periodic/x.go", module + "/store", "periodic may import only"},
		{"internal/leader/x.go", module + "/periodic", none},
		{"periodic/scheduler/x.go", module + "/periodic", ""},
		{"periodic/scheduler/internal/batch/x.go", module + "/periodic/scheduler", "periodic/scheduler/internal/batch may import only calendar, jobqueue, internal/taskdb"},
		{"periodic/page/x.go", module + "/periodic", ""},
		{"periodic/page/x.go", module + "/jobqueue", "periodic/page may import only periodic"},
		{"jobqueue/x.go", module + "/periodic", none},
		{"jobqueue/x.go", module + "/jobqueue/executor", none},
		{"jobqueue/executor/x.go", module + "/jobqueue", ""},
		{"jobqueue/executor/internal/outcome/x.go", module + "/jobqueue/executor", "jobqueue/executor/internal/outcome may import only jobqueue, internal/jobdb"},
		{"jobqueue/outbox/x.go", module + "/jobqueue", ""},
		{"jobqueue/handlers/x.go", module + "/jobqueue", ""},
		{"internal/cloudevents/x.go", module + "/jobqueue/outbox/webhook", "internal/cloudevents may import only jobqueue/outbox"},
		{"jobqueue/handlers/x.go", module + "/jobqueue/outbox", "jobqueue/handlers may import only jobqueue"},
		{"jobqueue/outbox/x.go", module + "/store", "jobqueue/outbox may import only jobqueue"},
		{"migrations/x.go", module + "/store", "migrations may import only migrations/internal/..."},
		{"migrations/internal/tables/x.go", module + "/migrations/internal/script", none},
		{"migrations/internal/script/x.go", module + "/migrations/internal/tables", ""},
		{"migrations/x.go", "github.com/pressly/goose/v3/lock", ""},
		{"store/x.go", module + "/internal/leader", ""},
		{"store/x.go", module + "/migrations", "store may import only"},
		{"store/x.go", module + "/store/postgres", "store may import only"},
		{"store/x.go", module + "/cmd/nextrun/cli", "store may import only"},
		{"store/x.go", module + "/internal/testkit/storetest", "store may import only"},
		{"store/x.go", "github.com/lib/pq", "only store/postgres may"},
		{"store/x.go", "github.com/lib/pq/oid", "only store/postgres may"},
		{"store/x.go", "github.com/lib/pqueue", ""},
		{"store/x.go", "github.com/pressly/goose/v3", "only migrations may"},
		{"store/postgres/x.go", "github.com/lib/pq", ""},
		{"internal/sqldb/postgres/x.go", "github.com/lib/pq", "only store/postgres may"},
		{"internal/sqldb/x.go", module + "/internal/sqldb/postgres", none},
		{"internal/sqldb/sqlite/x.go", module + "/internal/sqldb/postgres", "internal/sqldb/sqlite may import only"},
		{"store/internal/queue/x.go", "github.com/mattn/go-sqlite3", "only store/sqlite may"},
		{"store/x.go", module + "/store/internal/queue", ""},
		{"store/internal/queue/x.go", module + "/internal/sqldb", ""},
		{"store/internal/queue/x.go", module + "/store/internal/schedule", "store/internal/queue may import only"},
		{"store/internal/schedule/x.go", module + "/store/internal/queue", "store/internal/schedule may import only"},
		{"internal/sqldb/x.go", module + "/store/internal/queue", none},
		{"periodic/x.go", module + "/internal/sqldb", "periodic may import only"},
		{"internal/testkit/clitest/x.go", module + "/cmd/nextrun/cli", ""},
		{"internal/verify/x.go", module + "/internal/testkit/migrated", "internal/verify may import only"},
		{"internal/testkit/storetest/x.go", "github.com/lib/pq", ""},
		{"cmd/nextrun/x.go", module + "/store", ""},
		{"cmd/nextrun/cli/job/x.go", module + "/cmd/nextrun/cli/ui", ""},
		{"cmd/nextrun/cli/job/x.go", module + "/cmd/nextrun/cli/task", "cmd/nextrun/cli/job may import only cmd/nextrun/cli/ui"},
		{"cmd/nextrun/cli/ui/x.go", module + "/cmd/nextrun/cli/job", "cmd/nextrun/cli/ui may import only"},
		{"scripts/vectors/x.go", module + "/calendar", ""},
		{"scripts/vectors/x.go", module + "/cmd/nextrun/cli", "scripts/vectors may import only"},
		{"util/x.go", "time", "util/x.go: a directory of such a name"},
		{"store/util/x.go", "time", "store/util/x.go: a directory of such a name"},
		{"nextrun.go", "time", "nextrun.go: there is no root package"},
		{"web/x.go", "time", "web/x.go: package web has no rule"},
		// What is not the product's.
		{"calendar/x_test.go", module + "/store", ""},
		{"testdata/util/x.go", module + "/store", ""},
		{"_drafts/util/x.go", module + "/store", ""},
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

func TestArchitectureSkipsOtherModules(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "go.mod"), "module x\n")
	write(t, filepath.Join(root, "bench", "go.mod"), "module y\n")
	write(t, filepath.Join(root, "bench", "x.go"), "package y\n")
	tree, err := readTree(root)
	if err != nil || len(tree) != 0 {
		t.Errorf("readTree = %v, %v, want no file: bench is a module of its own", tree, err)
	}
}

func TestArchitectureNeedsReadableFiles(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "store", "x.go"), "package\n")
	if _, err := readTree(root); err == nil || !strings.Contains(err.Error(), "x.go") {
		t.Errorf("the error is %v, want one that names the file", err)
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
