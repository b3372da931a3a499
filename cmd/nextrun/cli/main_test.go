package cli_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/cmd/nextrun/cli"
	"github.com/nextrun/nextrun/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shell is a user with a database.
type shell struct {
	env   map[string]string
	stdin string
}

// result is what a run of the program gave.
type result struct {
	exit           int
	stdout, stderr string
}

// run runs the program as main does.
func (s shell) run(ctx context.Context, args ...string) result {
	var stdout, stderr bytes.Buffer
	lookup := func(name string) string { return s.env[name] }
	exit := cli.Run(ctx, args, strings.NewReader(s.stdin), &stdout, &stderr, lookup)
	return result{exit, stdout.String(), stderr.String()}
}

// must runs the program, which must succeed, and returns its output.
func (s shell) must(t *testing.T, args ...string) string {
	t.Helper()
	r := s.run(t.Context(), args...)
	if r.exit != cli.Done {
		t.Fatalf("nextrun %s: exit code %d\n%s", strings.Join(args, " "), r.exit, r.stderr)
	}
	return r.stdout
}

// fails runs the program, which must end with an exit code and texts on
// standard error.
func (s shell) fails(t *testing.T, exit int, args []string, texts ...string) result {
	t.Helper()
	r := s.run(t.Context(), args...)
	if r.exit != exit {
		t.Errorf("nextrun %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), r.exit, exit, r.stdout, r.stderr)
	}
	for _, text := range texts {
		if !strings.Contains(r.stderr, text) {
			t.Errorf("nextrun %s: standard error lacks %q:\n%s", strings.Join(args, " "), text, r.stderr)
		}
	}
	return r
}

// json runs the program with --json and decodes what it writes.
func (s shell) json(t *testing.T, value any, args ...string) {
	t.Helper()
	decode(t, s.must(t, append(args, "--json")...), value)
}

func decode(t *testing.T, text string, value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), value); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

// onBoth runs a test with an empty database of each kind.
func onBoth(t *testing.T, test func(t *testing.T, s shell)) {
	t.Helper()
	for name, newURL := range map[string]func(testing.TB) string{
		"postgres": storetest.PostgresURL, "sqlite": storetest.SQLiteURL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, shell{env: map[string]string{"NEXTRUN_DB": newURL(t), "NEXTRUN_NAME": "test"}})
		})
	}
}

// onBothMigrated is onBoth with the tables made, and without the housekeeping
// task that comes with them.
func onBothMigrated(t *testing.T, test func(t *testing.T, s shell)) {
	t.Helper()
	onBoth(t, func(t *testing.T, s shell) {
		s.must(t, "migrate", "up")
		s.exec(t, "DELETE FROM periodic_task")
		test(t, s)
	})
}

// exec runs a statement as somebody who knows nothing of nextrun.
func (s shell) exec(t *testing.T, statement string) {
	t.Helper()
	driver, source := "postgres", s.env["NEXTRUN_DB"]
	if path, ok := strings.CutPrefix(source, "sqlite:"); ok {
		driver, source = "sqlite3", "file:"+path+"?_busy_timeout=5000"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// wantLines checks that a text has lines that begin with each of the prefixes,
// blanks reduced to one.
func wantLines(t *testing.T, text string, prefixes ...string) {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	for _, prefix := range prefixes {
		found := false
		for _, line := range lines {
			found = found || strings.HasPrefix(line, prefix)
		}
		if !found {
			t.Errorf("no line begins with %q in\n%s", prefix, text)
		}
	}
}
