package consumers_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// The worker that docs/queues.md names runs the job that nextrun submits for the page's task, and fails another, which
// nextrun why then tells. What else the page shows, TestQueuesPage of cmd/nextrun does.
func TestRiverTutorial(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/queues.md")
	if err != nil {
		t.Fatal(err)
	}
	insert := blockOf(t, string(page), "(?s)```sql\n(INSERT INTO periodic_task.*?)```")

	f := newFixture(t, riverPostgres)
	f.Exec(insert)
	worker := reporter(t, program.Build(t, ".", "./tutorial"), f.URL)
	f.startScheduler("scheduler")
	f.output(f.nextrun("task", "run", "report"))
	worker.WaitFor("report to Ada for ")
	f.output(f.nextrun("task", "add", "nobody", "--handler", "report", "--timer", "Mon 09:00", "--args", `{"to": ""}`, "--sink", "river", "--retry-limit", "0"))
	f.output(f.nextrun("task", "run", "nobody"))
	storetest.Eventually(t, "the failure", func() bool { return strings.Contains(f.output(f.nextrun("why", "nobody")), ": nobody to report to.") })
	stop(t, worker, syscall.SIGINT)
}

func blockOf(t *testing.T, page, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no %s", pattern)
	}
	return found[1]
}

// overlaid builds a program as if it were a package of this module.
func overlaid(t *testing.T, text string) (path string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return program.Overlaid(t, source)
}
