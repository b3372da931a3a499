package main_test

import (
	"bufio"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// process is a running program whose log lines are read.
type process struct {
	*testing.T
	command *exec.Cmd
	lines   *bufio.Scanner
}

func startProcess(t *testing.T, url, binary string, args ...string) *process {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, args...)
	command.Env = append(os.Environ(), "NEXTRUN_DB="+url, "NEXTRUN_NAME=test")
	output, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() }) // unless it has ended
	return &process{T: t, command: command, lines: bufio.NewScanner(output)}
}

func (p *process) waitFor(text string) {
	p.Helper()
	var read strings.Builder
	for p.lines.Scan() {
		if strings.Contains(p.lines.Text(), text) {
			return
		}
		read.WriteString(p.lines.Text() + "\n")
	}
	p.Fatalf("the program ended without %q:\n%s", text, read.String())
}

func (p *process) signal(s syscall.Signal) {
	p.Helper()
	if err := p.command.Process.Signal(s); err != nil {
		p.Fatal(err)
	}
}

// end waits for the end of the process and returns its exit code, -1 if a
// signal ended it.
func (p *process) end() int {
	late := time.AfterFunc(storetest.Patience, func() { _ = p.command.Process.Kill() })
	defer late.Stop()
	for p.lines.Scan() {
		continue
	}
	_ = p.command.Wait() // the exit code tells
	return p.command.ProcessState.ExitCode()
}

// The first signal ends the program when its jobs have ended. A second one ends what
// runs, gives the jobs back, and ends the program at once, without an alarm.
func TestSignals(t *testing.T) {
	t.Parallel()
	binary := build(t)
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
			run := func(task string) *process {
				p := startProcess(t, url, binary, "serve", "--config", config)
				p.waitFor("INFO  started  ")
				nextrun(t, url, ui.Done, "job", "submit", task)
				storetest.Eventually(t, "the command runs", func() bool {
					_, err := os.Stat(mark)
					return err == nil
				})
				return p
			}
			p := run("short")
			p.signal(sig)
			p.waitFor("stopping; a second signal ends it at once")
			p.waitFor("executor is stopping  grace=1h0m0s  jobs=1  running=short")
			write(t, release, "")
			if exit := p.end(); exit != ui.Done {
				t.Errorf("after one signal: exit code %d, want %d", exit, ui.Done)
			}
			if list := nextrun(t, url, ui.Done, "job", "list", "-n", "1"); !strings.Contains(list, " success") {
				t.Errorf("the job was not finished:\n%s", list)
			}

			p = run("long")
			p.signal(sig)
			p.waitFor("stopping; a second signal ends it at once")
			p.waitFor("executor is stopping  grace=1h0m0s  jobs=1  running=long")
			p.signal(sig)
			if exit := p.end(); exit != ui.Done { // it is killed if it waits for the job
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
	p := startProcess(t, url, build(t), "serve", "--config", config)
	p.waitFor("INFO  started  ")
	greet("new-words")
	p.signal(syscall.SIGHUP)
	p.waitFor("configuration read again: commands, calls and addresses of handlers, hooks and topics follow it; what is new or gone, and all other settings, are taken at the next start")
	hears := func() {
		t.Helper()
		said := nextrun(t, url, ui.Done, "job", "submit", "greet")
		p.waitFor("job ended")
		if log := nextrun(t, url, ui.Done, "job", "log", strings.TrimPrefix(strings.TrimSpace(said), "submitted ")); !strings.Contains(log, "new-words") {
			t.Errorf("the handler says %s", log)
		}
	}
	hears()
	write(t, config, "handlers: {greet: {comm")
	p.signal(syscall.SIGHUP)
	p.waitFor("the configuration cannot be read again; the old one stays")
	hears()
	p.signal(syscall.SIGTERM)
	if exit := p.end(); exit != ui.Done {
		t.Errorf("exit code %d", exit)
	}
}
