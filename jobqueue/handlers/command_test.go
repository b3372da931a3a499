package handlers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/store/storetest"
)

// command runs a job by a shell script on SQLite, and returns it with its log
// but the lines of the executor.
func (q *fixture) command(cfg handlers.CommandConfig, job jobqueue.Job) (jobqueue.Job, []string) {
	q.Helper()
	h, err := handlers.Command(cfg)
	if err != nil {
		q.Fatal(err)
	}
	q.run(jobqueue.Config{RetryLimit: jobqueue.Never}, map[string]jobqueue.Handler{"t": h})
	job.Task = "t"
	jid := q.submit(job)
	<-q.ends
	log := q.log(jid)
	return q.get(jid), slices.DeleteFunc(log, func(line string) bool { return strings.HasPrefix(line, "attempt ") })
}

func script(text string) []string { return []string{"/bin/sh", "-c", text} }

func TestCommandGetsTheJob(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		dir := t.TempDir()
		job, log := q.command(handlers.CommandConfig{
			Argv: script(`echo "$NEXTRUN_ARGS"; cat; echo; echo "$OWN $NEXTRUN_TASK $NEXTRUN_GROUP $NEXTRUN_ATTEMPT $NEXTRUN_DUE"
				pwd; echo oops >&2; printf 'no end'`),
			Dir: dir, Env: []string{"OWN=mine"},
		}, jobqueue.Job{Args: `{"a": "$(id) ü"}`, Group: "g", Due: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
		if job.State != jobqueue.Success {
			t.Errorf("%+v", job)
		}
		slices.Sort(log)
		want := []string{`{"a": "$(id) ü"}`, `{"a": "$(id) ü"}`, "mine t g 1 2026-01-02T03:04:05Z", dir, "oops", "no end"}
		slices.Sort(want)
		if !slices.Equal(log, want) {
			t.Errorf("log %q, want %q", log, want)
		}
		lines, err := q.queue.Logs(q.ctx, jobqueue.LogFilter{JID: job.JID})
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if (line.Level == jobqueue.Warn) != (line.Message == "oops") {
				t.Errorf("%s has level %s", line.Message, line.Level)
			}
		}
	})
}

func TestCommandExitCodes(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		fail, err := handlers.Command(handlers.CommandConfig{Argv: script("exit 3"), PermanentCodes: []int{4}})
		if err != nil {
			t.Fatal(err)
		}
		final, err := handlers.Command(handlers.CommandConfig{Argv: script("exit 4"), PermanentCodes: []int{4}})
		if err != nil {
			t.Fatal(err)
		}
		missing, err := handlers.Command(handlers.CommandConfig{Argv: []string{"/nowhere/to/be/found"}})
		if err != nil {
			t.Fatal(err)
		}
		q.run(jobqueue.Config{RetryLimit: 1, RetryDelay: 1}, map[string]jobqueue.Handler{"fail": fail, "final": final, "missing": missing})
		for task, retries := range map[string]int{"fail": 1, "final": 0, "missing": 0} {
			jid := q.submit(jobqueue.Job{Task: task})
			q.awaitEnd(jid, jobqueue.Failed)
			if job := q.get(jid); job.Retries != retries {
				t.Errorf("%s: %+v", task, job)
			}
		}
	})
}

func TestCommandArgsTooLongForTheEnvironment(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		job, log := q.command(handlers.CommandConfig{Argv: script(`echo "${NEXTRUN_ARGS-none}"; wc -c | tr -d ' '`)},
			jobqueue.Job{Args: strings.Repeat("x", 1<<20)})
		if job.State != jobqueue.Success || !slices.Equal(log, []string{"none", "1048576"}) {
			t.Errorf("%s, log %q", job.State, log)
		}
	})
}

func TestCommandOutputIsCutBetweenCharacters(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		job, log := q.command(handlers.CommandConfig{Argv: []string{"cat"}}, jobqueue.Job{Args: "x" + strings.Repeat("ü", 20_000)})
		if job.State != jobqueue.Success || len(log) != 3 || strings.Join(log, "") != job.Args {
			t.Errorf("%s, %d lines, replaced characters: %d", job.State, len(log), strings.Count(strings.Join(log, ""), "\uFFFD"))
		}
	})
}

func TestCommandOutputIsCapped(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		job, log := q.command(handlers.CommandConfig{Argv: script(`yes 123456789 | head -100000`), MaxOutput: 95}, jobqueue.Job{})
		if job.State != jobqueue.Success || len(log) != 11 || log[9] != "123456789" || !strings.Contains(log[10], "dropped") {
			t.Errorf("%s, log %q", job.State, log)
		}
	})
}

// A program that is being replaced can be started a little later.
func TestCommandThatCannotBeStartedJustNowIsTriedAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		program := filepath.Join(t.TempDir(), "program")
		file, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o700)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString("#!/bin/sh\nexit 0\n"); err != nil {
			t.Fatal(err)
		}
		h, err := handlers.Command(handlers.CommandConfig{Argv: []string{program}})
		if err != nil {
			t.Fatal(err)
		}
		q.run(jobqueue.Config{RetryDelay: time.Millisecond, RetryLimit: 1000}, map[string]jobqueue.Handler{"t": h})
		jid := q.submit(jobqueue.Job{Task: "t"})
		q.awaitEnd(jid, jobqueue.Stuck)
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		q.awaitEnd(jid, jobqueue.Success)
	})
}

// endsAsAWhole checks that a job whose processes ignore SIGTERM, and have
// children, ends together with them.
func endsAsAWhole(q *fixture, cfg handlers.CommandConfig, end func(jid string), state jobqueue.State) {
	q.Helper()
	pids := filepath.Join(q.TempDir(), "pids")
	if err := syscall.Mkfifo(pids, 0o600); err != nil {
		q.Fatal(err)
	}
	cfg.Argv = script(`trap '' TERM; sleep 1000 & echo "$$ $!" > ` + pids + `; while :; do sleep 1000; done`)
	cfg.KillGrace = time.Millisecond
	h, err := handlers.Command(cfg)
	if err != nil {
		q.Fatal(err)
	}
	q.run(jobqueue.Config{RetryLimit: jobqueue.Never}, map[string]jobqueue.Handler{"t": h})
	jid := q.submit(jobqueue.Job{Task: "t"})
	said, err := os.ReadFile(pids) // waits for the script
	if err != nil {
		q.Fatal(err)
	}
	end(jid)
	q.awaitEnd(jid, state)
	for _, pid := range strings.Fields(string(said)) {
		storetest.Eventually(q, "process "+pid+" is gone", func() bool { return !alive(pid) })
	}
}

// alive reports whether a process is there and no zombie that nobody reaps.
func alive(pid string) bool {
	out, _ := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	state := strings.TrimSpace(string(out))
	return state != "" && state[0] != 'Z'
}

func TestCancelledCommandEndsAsAWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		endsAsAWhole(q, handlers.CommandConfig{}, func(jid string) {
			if _, err := q.queue.Cancel(q.ctx, jid); err != nil {
				t.Fatal(err)
			}
		}, jobqueue.Cancelled)
	})
}

func TestCommandThatTakesTooLongEndsAsAWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		endsAsAWhole(q, handlers.CommandConfig{Timeout: 50 * time.Millisecond}, func(string) {}, jobqueue.Failed)
	})
}

// A program that ends because the executor asked it to has not done its job.
func TestCommandThatStopsInOrderIsNotDone(t *testing.T) {
	for name, end := range map[string]struct {
		by    func(q *fixture, e *jobqueue.Executor, jid string)
		state jobqueue.State
	}{
		"cancelled": {func(q *fixture, _ *jobqueue.Executor, jid string) {
			if _, err := q.queue.Cancel(q.ctx, jid); err != nil {
				q.Fatal(err)
			}
		}, jobqueue.Cancelled},
		"shutdown": {func(q *fixture, e *jobqueue.Executor, _ string) {
			if err := e.Stop(q.ctx); err != nil {
				q.Fatal(err)
			}
		}, jobqueue.Waiting},
		"too long": {func(*fixture, *jobqueue.Executor, string) {}, jobqueue.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, q *fixture) {
				ready := filepath.Join(q.TempDir(), "ready")
				if err := syscall.Mkfifo(ready, 0o600); err != nil {
					q.Fatal(err)
				}
				cfg := handlers.CommandConfig{KillGrace: time.Hour, Argv: script(`trap 'exit 0' TERM; echo > ` + ready + `; sleep 1000 & wait`)}
				if name == "too long" {
					cfg.Timeout = 3 * time.Second
				}
				h, err := handlers.Command(cfg)
				if err != nil {
					q.Fatal(err)
				}
				e := q.run(jobqueue.Config{RetryLimit: jobqueue.Never, ShutdownGrace: -1}, map[string]jobqueue.Handler{"t": h})
				jid := q.submit(jobqueue.Job{Task: "t"})
				if _, err := os.ReadFile(ready); err != nil { // waits for the script
					q.Fatal(err)
				}
				end.by(q, e, jid)
				if name != "shutdown" {
					<-q.ends
				}
				if job := q.get(jid); job.State != end.state {
					t.Errorf("the job is %s, want %s", job.State, end.state)
				}
			})
		})
	}
}

func TestCommandLeavesNoChildrenBehind(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		job, log := q.command(handlers.CommandConfig{Argv: script(`sleep 1000 >/dev/null 2>&1 & echo $!`)}, jobqueue.Job{})
		if job.State != jobqueue.Success || len(log) != 1 {
			t.Fatalf("%s, log %q", job.State, log)
		}
		storetest.Eventually(t, "the child is gone", func() bool { return !alive(log[0]) })
	})
}

func TestCommandConfigIsChecked(t *testing.T) {
	for field, cfg := range map[string]handlers.CommandConfig{
		"Argv": {}, "Timeout": {Argv: []string{"x"}, Timeout: -1}, "Env": {Argv: []string{"x"}, Env: []string{"novalue"}},
	} {
		if _, err := handlers.Command(cfg); err == nil || !strings.Contains(err.Error(), "CommandConfig."+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Short lines, too, come to an end.
func TestCommandOutputOfEmptyLinesIsCapped(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		job, log := q.command(handlers.CommandConfig{Argv: script(`yes '' | head -20000`), MaxOutput: 1024}, jobqueue.Job{})
		if job.State != jobqueue.Success || len(log) != 1024/16+100+1 || !strings.Contains(log[len(log)-1], "dropped") {
			t.Errorf("%s, %d lines, the last is %q", job.State, len(log), log[len(log)-1])
		}
	})
}

// The end of the output is not lost while the database is slow.
func TestCommandOutputSurvivesALockedDatabase(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		goOn := filepath.Join(t.TempDir(), "go-on")
		pid := filepath.Join(t.TempDir(), "pid")
		for _, fifo := range []string{goOn, pid} {
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		h, err := handlers.Command(handlers.CommandConfig{Argv: script(`echo $$ > ` + pid + `; cat ` + goOn + `; seq 14000; echo LAST-LINE`)})
		if err != nil {
			t.Fatal(err)
		}
		q.run(jobqueue.Config{}, map[string]jobqueue.Handler{"t": h})
		jid := q.submit(jobqueue.Job{Task: "t"})
		program, err := os.ReadFile(pid) // waits for the script
		if err != nil {
			t.Fatal(err)
		}
		unlock := q.lockJobLog()
		if err := os.WriteFile(goOn, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		storetest.Eventually(t, "the program has ended", func() bool { return !alive(strings.TrimSpace(string(program))) })
		<-time.After(1500 * time.Millisecond) // longer than output is waited for
		unlock()
		q.awaitEnd(jid, jobqueue.Success)
		log := q.log(jid)
		if !slices.Contains(log, "LAST-LINE") || len(log) < 14_001 {
			t.Errorf("the log has %d lines and ends with %q", len(log), log[len(log)-1])
		}
	})
}

// lockJobLog keeps everybody from writing to the job log.
func (q *fixture) lockJobLog() (unlock func()) {
	q.Helper()
	tx, err := q.SQL.BeginTxx(q.ctx, nil) // on SQLite immediate
	if err != nil {
		q.Fatal(err)
	}
	if q.Kind == storetest.Postgres {
		if _, err := tx.ExecContext(q.ctx, "LOCK TABLE joblog"); err != nil {
			q.Fatal(err)
		}
	}
	return func() { _ = tx.Rollback() }
}

// A process that has left the group and holds the output open is not waited for,
// and the log says so.
func TestCommandWhoseOutputIsHeldOpen(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		job, log := q.command(handlers.CommandConfig{Argv: script(`setsid sh -c 'echo $$; exec sleep 1000' & echo done; wait -n 2>/dev/null; sleep 0.1`)}, jobqueue.Job{})
		for _, line := range log {
			if pid, err := strconv.Atoi(line); err == nil {
				t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
			}
		}
		if job.State != jobqueue.Success || !slices.Contains(log, "done") || !strings.Contains(log[len(log)-1], "still holds it open") {
			t.Errorf("%s, log %q", job.State, log)
		}
	})
}

// Env goes before Without.
func TestCommandWithoutVariables(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		_, log := q.command(handlers.CommandConfig{
			Argv:    script(`env | grep ^HANDLERS_TEST_ | sort`),
			Env:     []string{"HANDLERS_TEST_NAMED=of the handler"},
			Without: []string{"HANDLERS_TEST_SECRET", "HANDLERS_TEST_NAMED"},
		}, jobqueue.Job{})
		if want := []string{"HANDLERS_TEST_NAMED=of the handler", "HANDLERS_TEST_OPEN=of the process"}; !slices.Equal(log, want) {
			t.Errorf("log %q, want %q", log, want)
		}
	})
}

func TestCommandInAMissingDirectory(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		job, _ := q.command(handlers.CommandConfig{Argv: []string{"/bin/true"}, Dir: "/no/such/directory"}, jobqueue.Job{})
		if job.State != jobqueue.Failed || !strings.Contains(job.Result, "working directory: stat /no/such/directory") {
			t.Errorf("%s, result %q", job.State, job.Result)
		}
	})
}
