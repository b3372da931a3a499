//go:build builds

package main_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// An image is replaced by a newer one, whose migration is additive, and rolled back. Nobody notices: each second has its
// tick and its job, no log has more than it had before, and commands and pages of the older program are as they were.
func TestRollback(t *testing.T) {
	t.Parallel()
	older, newer := build(t), newerProgram(t)
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		r := &rollback{Database: d, config: filepath.Join(t.TempDir(), "nextrun.yaml")}
		write(t, r.config, "handlers: {note: {command: ['true']}}\n")
		r.says(older, "applied 00001_schema.sql", "migrate", "up")
		for _, id := range []string{"one", "two", "three"} {
			r.says(older, "", "task", "add", id, "--handler", "note", "--timer", "*-*-* *:*:*", "--overlap", "allow", "--catchup", "all")
		}
		before := r.serve(older)
		said := r.says(newer, "applied 00002_mood.sql", "migrate", "up")
		if !strings.HasPrefix(said, "running: ") || strings.Contains(said, "cannot") {
			t.Errorf("the newer program's migrate up does not say who runs, or that somebody is shut out:\n%s", said)
		}
		r.works("the older program, after the update of the tables")
		r.stop(before)
		r.stop(r.serve(newer))
		rolledBack := r.serve(older)
		r.says(older, "nothing to do", "migrate", "up")
		r.says(older, "00002_mood.sql", "migrate", "status")
		r.says(older, "of a newer version, up to 00002_mood.sql; this version works on it, too", "check", "--config", r.config)
		r.says(older, "", "why", "one")
		r.pages(rolledBack)
		r.stop(rolledBack)
		r.says(older, "", "check", "--guarantees")
		r.lostNothing()
	})
}

// newerProgram builds nextrun with a migration more.
func newerProgram(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../../migrations")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, kind := range []string{storetest.Postgres, storetest.SQLite} {
		files[filepath.Join(folder, kind, "00002_mood.sql")] = filepath.Join(folder, "testdata", "newer", kind+".sql")
	}
	return program.Replaced(t, ".", files)
}

type rollback struct {
	*storetest.Database

	config string
}

func (r *rollback) command(binary string, args ...string) *exec.Cmd {
	c := exec.CommandContext(r.Context(), binary, args...)
	c.Env = append(os.Environ(), "NEXTRUN_DB="+r.URL)
	return c
}

// says runs a command, which has to succeed and say a text.
func (r *rollback) says(binary, text string, args ...string) string {
	r.Helper()
	out, err := r.command(binary, args...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), text) {
		r.Errorf("nextrun %s: %v, want %q in\n%s", strings.Join(args, " "), err, text, out)
	}
	return string(out)
}

// serve starts a program as an image does, and waits for its work.
func (r *rollback) serve(binary string) *program.Process {
	r.Helper()
	p := program.Start(r, r.command(binary, "serve", "--migrate", "--config", r.config, "--dashboard", "127.0.0.1:0"))
	p.WaitFor("INFO  started  ")
	r.works(binary)
	return p
}

// works waits until jobs have run that were made from now on.
func (r *rollback) works(who string) {
	r.Helper()
	now := r.One("SELECT max(due) FROM periodic_tick")
	storetest.Eventually(r, who+": a job has run", func() bool {
		return r.One("SELECT count(*) FROM periodic_tick k JOIN job j ON j.jid = k.jid WHERE k.due > ? AND j.state = 'success'", now) != "0"
	})
}

// stop ends a program as the runtime of containers does. It may have logged nothing that alarms.
func (r *rollback) stop(p *program.Process) {
	r.Helper()
	p.Signal(syscall.SIGTERM)
	if exit := p.End(); exit != 0 {
		r.Errorf("exit code %d\n%s", exit, p.Said())
	}
	for line := range strings.Lines(p.Said()) {
		if slow := strings.Contains(line, "takes long"); alarms.MatchString(line) && !slow { // it is the machine that is slow
			r.Errorf("the log alarms: %s", line)
		}
	}
}

var alarms = regexp.MustCompile(" (WARN|ERROR) ")

var dashboardAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+/`)

func (r *rollback) pages(p *program.Process) {
	r.Helper()
	at := dashboardAddress.FindString(p.Said())
	for _, page := range []string{"", "tasks", "task?id=one", "runs", "timeline", "system"} {
		response, err := http.Get(at + page) //nolint:noctx // it is a test's
		if err != nil {
			r.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(text), "</html>") {
			r.Errorf("page %q: %s, %v\n%s", page, response.Status, err, text)
		}
	}
}

// lostNothing compares the ticks of each task with the seconds from its first to its last one.
func (r *rollback) lostNothing() {
	r.Helper()
	seconds := map[string]string{
		storetest.Postgres: "extract(epoch FROM max(due) - min(due))", storetest.SQLite: "strftime('%s', max(due)) - strftime('%s', min(due))",
	}
	r.Want("0", "SELECT count(*) FROM (SELECT 1 FROM periodic_tick GROUP BY task_id HAVING count(*) <> 1 + "+seconds[r.Kind]+") AS lost")
	r.Want("0", "SELECT count(*) FROM periodic_tick WHERE decision <> 'submitted' OR jid IS NULL")
	r.Want("0", "SELECT count(*) FROM job WHERE state NOT IN ('success', 'waiting')")
	r.Want("3", "SELECT count(DISTINCT task_id) FROM periodic_tick")
}
