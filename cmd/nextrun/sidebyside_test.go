//go:build upgrade

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

const sideBySideConfig = `
handlers:
  x: {command: ["true"]}
`

// previous builds the program of the commit before the newest migration, and returns its
// path and the version of that migration. Where the history is cut off, it says so.
func previous(t *testing.T) (program, version string) {
	t.Helper()
	files, err := filepath.Glob("../../migrations/postgres/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	git := func(args ...string) (string, error) {
		command := exec.Command("git", args...)
		command.Dir = "../.."
		text, err := command.Output()
		return strings.TrimSpace(string(text)), err
	}
	newest := "migrations/postgres/" + filepath.Base(files[len(files)-1])
	added, _ := git("log", "--diff-filter=A", "--format=%H", "-1", "--", newest)
	commit, err := git("rev-parse", "--verify", "--quiet", added+"^")
	if added == "" || err != nil {
		t.Skipf("the history of this clone does not reach back to before %s: git fetch --unshallow", newest)
	}
	dir := t.TempDir()
	script := fmt.Sprintf("set -eo pipefail; git -C ../.. archive %s | tar -x -C %s; cd %[2]s; go build -buildvcs=false -o %[2]s/nextrun-old ./cmd/nextrun", commit, dir)
	if out, err := exec.Command("bash", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", commit, err, out)
	}
	t.Logf("the previous version is %s", commit)
	number, _, _ := strings.Cut(filepath.Base(newest), "_")
	return filepath.Join(dir, "nextrun-old"), strings.TrimLeft(number, "0")
}

// Programs of the version before the newest migration work beside those of this version,
// before and after it, and each tick has one job.
func TestOldAndNewSideBySide(t *testing.T) {
	older, version := previous(t)
	newer := build(t)
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		config := filepath.Join(t.TempDir(), "nextrun.yaml")
		write(t, config, sideBySideConfig)
		program := func(binary string, args ...string) *exec.Cmd {
			command := exec.CommandContext(t.Context(), binary, args...)
			command.Env = append(os.Environ(), "NEXTRUN_DB="+d.URL, "NEXTRUN_CONFIG="+config)
			return command
		}
		must := func(binary string, args ...string) {
			t.Helper()
			if out, err := program(binary, args...).CombinedOutput(); err != nil {
				t.Fatalf("%s %v: %v\n%s", filepath.Base(binary), args, err, out)
			}
		}
		serve := func(binary, name string) *exec.Cmd {
			t.Helper()
			command := program(binary, "serve", "--name", name)
			output := &output{}
			command.Stdout, command.Stderr = output, output
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = command.Process.Kill()
				_ = command.Wait()
				if t.Failed() {
					t.Logf("%s said:\n%s", name, output)
				}
			})
			return command
		}
		// done waits until one of the workers whose names begin alike has decided ticks, and
		// run jobs, since now. Which of them gets a batch is chance.
		done := func(name string) {
			t.Helper()
			since := d.One("SELECT max(decided) FROM periodic_tick")
			for _, query := range []string{
				"SELECT count(*) FROM periodic_tick WHERE worker LIKE ? AND decided > ?", "SELECT count(*) FROM job WHERE state = 'success' AND worker LIKE ? AND finished > ?"} {
				if since == "" {
					since = "2026-01-01 00:00:00"
				}
				storetest.Eventually(t, name+" works: "+query, func() bool { n := d.One(query, name+"%@%", since); return n != "0" && n != "1" })
			}
		}
		must(older, "migrate", "up")
		before := d.One("SELECT max(version_id) FROM nextrun_migration")
		for n := range 8 {
			d.Exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES (?, 'x', 'every 1s', 'allow')", fmt.Sprint("task-", n))
		}
		olds := []*exec.Cmd{serve(older, "old-1"), serve(older, "old-2")}
		done("old")
		must(newer, "migrate", "up")
		d.Want(version, "SELECT max(version_id) FROM nextrun_migration")
		done("old")
		serve(newer, "new-1")
		done("")
		done("")
		// The oldest file of this version has all that came before it, at the version that databases had then.
		if out, err := program(older, "task", "list").CombinedOutput(); (err == nil || !strings.Contains(string(out), "newer than this program")) && before != version {
			t.Errorf("an old program that starts now says %v\n%s", err, out)
		}
		for _, old := range olds { // their work is taken over
			_ = old.Process.Signal(syscall.SIGKILL)
			_ = old.Wait()
		}
		done("new")
		serve(newer, "new-2")
		done("new")
		d.Want(0, "SELECT count(*) FROM (SELECT tracker, due FROM job WHERE due IS NOT NULL GROUP BY tracker, due HAVING count(*) > 1) AS twice")
		d.Exec("UPDATE periodic_task SET enabled = ?", false)
		storetest.Eventually(t, "all jobs have ended", func() bool {
			return d.One("SELECT count(*) FROM job WHERE state IN ('waiting', 'scheduled', 'running', 'stuck')") == "0"
		})
		must(newer, "verify")
	})
}
