package consumers_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

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
	program, err := os.ReadFile("tutorial/main.go")
	if err != nil {
		t.Fatal(err)
	}
	insert := blockOf(t, string(page), "(?s)```sql\n(INSERT INTO periodic_task.*?)```")

	f := newFixture(t, riverPostgres)
	f.Exec(insert)
	worker := exec.Command(overlaid(t, string(program)))
	worker.Env = append(os.Environ(), "DATABASE_URL="+f.URL)
	var out lines
	worker.Stdout, worker.Stderr = &out, &out
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = worker.Process.Signal(os.Interrupt)
		if err := worker.Wait(); err != nil {
			t.Errorf("the worker: %v\n%s", err, out.String())
		}
	})
	f.startScheduler("scheduler")
	f.output(f.nextrun("task", "run", "report"))
	storetest.Eventually(t, "a report", func() bool { return strings.Contains(out.String(), "report to Ada for ") })
	f.output(f.nextrun("task", "add", "nobody", "--handler", "report", "--timer", "Mon 09:00", "--args", `{"to": ""}`, "--sink", "river", "--retry-limit", "0"))
	f.output(f.nextrun("task", "run", "nobody"))
	storetest.Eventually(t, "the failure", func() bool { return strings.Contains(f.output(f.nextrun("why", "nobody")), ": nobody to report to.") })
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
func overlaid(t *testing.T, program string) (path string) {
	t.Helper()
	dir := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "main.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "tutorial", "main.go"): source}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{source: program, filepath.Join(dir, "overlay.json"): string(overlay)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(dir, "worker")
	if out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", path, "./tutorial").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// lines keeps what a program writes, and may be read meanwhile.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
