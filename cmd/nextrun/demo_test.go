package main_test

import (
	"database/sql"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// What `make run` shows: missed, submitted, run, retried, failed, skipped and why, and a
// bad row and its repair; Control-C ends it cleanly, and started again it goes on where it
// was.
func TestDemo(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "demo.db")
	binary := build(t)
	demo(t, binary, database, []string{
		"task=punctual", "ticks missed", "task=clock", "job submitted", "handler=date", "state=success", "state=retrying", "state=failed",
		"tick skipped", "task=slow", "cause=overlap", "task has a problem", "task=mistake", "job submitted", "task=mistake",
	})
	if answer := nextrun(t, "sqlite:"+database, ui.Done, "why", "broken"); !strings.Contains(answer, "ls: ") {
		t.Errorf("why does not tell what failed:\n%s", answer)
	}
	before := count(t, database, "SELECT count(*) FROM periodic_tick")
	demo(t, binary, database, []string{"job submitted"})
	if after := count(t, database, "SELECT count(*) FROM periodic_tick"); before == 0 || after <= before {
		t.Errorf("ticks: %d, and %d after the second start; want more", before, after)
	}
	if n := count(t, database, "SELECT count(*) FROM periodic_task WHERE id = 'clock'"); n != 1 {
		t.Errorf("%d rows of the clock after the second start, want 1", n)
	}
}

// demo runs the demo until its lines have all the texts, then presses Control-C.
func demo(t *testing.T, binary, database string, texts []string) {
	t.Helper()
	command := exec.Command("scripts/demo", database)
	command.Dir = "../.."
	command.Env = append(os.Environ(), "NEXTRUN="+binary)
	p := program.Start(t, command)
	for _, text := range texts {
		storetest.Eventually(t, text, func() bool { return p.Ended() || strings.Contains(p.Said(), text) })
	}
	p.Signal(syscall.SIGINT)
	if exit := p.End(); exit != 0 || !strings.HasSuffix(strings.TrimSpace(p.Said()), "stopped") {
		t.Errorf("the demo did not end cleanly: exit code %d\n%s", exit, p.Said())
	}
}

func count(t *testing.T, database, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite3", database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// The demo's file is plain SQL for either database, and its timers and commands
// are good, but for the row that shows a mistake.
func TestDemoFileOnBothDatabases(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		nextrun(t, d.URL, ui.Done, "migrate", "up")
		d.Exec(readFile(t, "../../testdata/demo.sql"))
		d.Exec(readFile(t, "../../testdata/demo-mistake.sql"))
		report := nextrun(t, d.URL, ui.Changes, "check", "--config", "../../testdata/nextrun.yaml")
		if !strings.Contains(report, "mistake") || strings.Count(report, "\nerror") != 1 || strings.Contains(report, "no handler") {
			t.Errorf("check:\n%s", report)
		}
		d.Exec(readFile(t, "../../testdata/demo-repair.sql"))
		nextrun(t, d.URL, ui.Done, "check", "--config", "../../testdata/nextrun.yaml")
	})
}

// nextrun runs the program on a database and returns its output.
func nextrun(t *testing.T, url string, exit int, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	env := func(name string) string { return map[string]string{"NEXTRUN_DB": url}[name] }
	if got := cli.Run(t.Context(), args, io.MultiReader(), &stdout, &stderr, env); got != exit {
		t.Fatalf("nextrun %v: exit code %d, want %d\n%s%s", args, got, exit, stdout.String(), stderr.String())
	}
	return stdout.String()
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
