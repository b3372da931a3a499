package main_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// The first signal ends the program when its jobs have ended. A second one ends what
// runs, gives the jobs back, and ends the program at once, without an alarm.
func TestSignals(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, dir := storetest.SQLiteURL(t), t.TempDir()
			config, mark, release := filepath.Join(dir, "nextrun.yaml"), filepath.Join(dir, "mark"), filepath.Join(dir, "release")
			if err := syscall.Mkfifo(release, 0o600); err != nil {
				t.Fatal(err)
			}
			write(t, config, `
executor: {shutdown_grace: 1h}
handlers:
  short: # the file is there while they run
    command: [sh, -c, 'touch "$MARK"; cat "$RELEASE"; rm "$MARK"']
    env: {MARK: "`+mark+`", RELEASE: "`+release+`"}
  long:
    command: [sh, -c, 'trap "rm $MARK; exit" TERM; touch "$MARK"; sleep 3600 & wait']
    env: {MARK: "`+mark+`"}
`)
			nextrun(t, url, ui.Done, "migrate", "up")
			run := func(task string) *program.Process {
				p := startProcess(t, url, "serve", "--config", config)
				p.WaitFor("INFO  started  ")
				nextrun(t, url, ui.Done, "job", "submit", task)
				storetest.Eventually(t, "the command runs", func() bool {
					_, err := os.Stat(mark)
					return err == nil
				})
				return p
			}
			p := run("short")
			p.Signal(sig)
			p.WaitFor("signal received; a second one ends it at once")
			p.WaitFor("executor is stopping  grace=1h0m0s  jobs=1  running=short")
			write(t, release, "")
			if exit := p.End(); exit != ui.Done {
				t.Errorf("after one signal: exit code %d, want %d", exit, ui.Done)
			}
			if list := nextrun(t, url, ui.Done, "job", "list", "-n", "1"); !strings.Contains(list, " success") {
				t.Errorf("the job was not finished:\n%s", list)
			}

			p = run("long")
			p.Signal(sig)
			p.WaitFor("signal received; a second one ends it at once")
			p.WaitFor("executor is stopping  grace=1h0m0s  jobs=1  running=long")
			p.Signal(sig)
			if exit := p.End(); exit != ui.Done { // it is killed if it waits for the job
				t.Errorf("after two signals: exit code %d, want %d", exit, ui.Done)
			}
			if list := nextrun(t, url, ui.Done, "job", "list", "-n", "1"); !strings.Contains(list, " waiting") {
				t.Errorf("the job was not given back:\n%s", list)
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("the command of the job goes on")
			}
		})
	}
}

// SIGHUP has handlers do what the file says now; a file that cannot be used changes nothing.
func TestHangupReadsTheConfigurationAgain(t *testing.T) {
	t.Parallel()
	// Under nohup SIGHUP is ignored, and children inherit that; a signal that is
	// handled here has its default in a child.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(handled) })
	url, config := storetest.SQLiteURL(t), filepath.Join(t.TempDir(), "nextrun.yaml")
	greet := func(word string) { write(t, config, "handlers: {greet: {command: [echo, "+word+"]}}") }
	greet("old-words")
	nextrun(t, url, ui.Done, "migrate", "up")
	p := startProcess(t, url, "serve", "--config", config)
	p.WaitFor("INFO  started  ")
	greet("new-words")
	p.Signal(syscall.SIGHUP)
	p.WaitFor("configuration read again: commands, calls and addresses of handlers, hooks and topics follow it; what is new or gone, and all other settings, are taken at the next start")
	hears := func() {
		t.Helper()
		said := nextrun(t, url, ui.Done, "job", "submit", "greet")
		p.WaitFor("job ended")
		if log := nextrun(t, url, ui.Done, "job", "log", strings.TrimPrefix(strings.TrimSpace(said), "submitted ")); !strings.Contains(log, "new-words") {
			t.Errorf("the handler says %s", log)
		}
	}
	hears()
	write(t, config, "handlers: {greet: {comm")
	p.Signal(syscall.SIGHUP)
	p.WaitFor("the configuration cannot be read again; the old one stays")
	hears()
	p.Signal(syscall.SIGTERM)
	if exit := p.End(); exit != ui.Done {
		t.Errorf("exit code %d", exit)
	}
}
