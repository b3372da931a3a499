package handlers_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/handlers"
)

// command runs a job by a shell script on SQLite, and returns it with its log
// but the lines of the executor.
func (q *fixture) command(cfg handlers.CommandConfig, job jobqueue.Job) (jobqueue.Job, []string) {
	q.Helper()
	h, err := handlers.Command(cfg)
	if err != nil {
		q.Fatal(err)
	}
	q.run(executor.Config{RetryLimit: executor.Never}, map[string]jobqueue.Handler{"t": h})
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
			Argv: script(`echo "$NEXTRUN_ARGS"; cat; echo; echo "$OWN $NEXTRUN_HANDLER $NEXTRUN_TASK $NEXTRUN_GROUP $NEXTRUN_ATTEMPT $NEXTRUN_DUE"
				pwd; echo oops >&2; printf 'no end'`),
			Dir: dir, Env: []string{"OWN=mine"},
		}, jobqueue.Job{Args: `{"a": "$(id) ü"}`, Group: "g", Tracker: "nightly", Due: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
		if job.State != jobqueue.Success {
			t.Errorf("%+v", job)
		}
		slices.Sort(log)
		want := []string{`{"a": "$(id) ü"}`, `{"a": "$(id) ü"}`, "mine t nightly g 1 2026-01-02T03:04:05Z", dir, "oops", "no end"}
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
		q.run(executor.Config{RetryLimit: 1, RetryDelay: 1}, map[string]jobqueue.Handler{"fail": fail, "final": final, "missing": missing})
		for task, retries := range map[string]int{"fail": 1, "final": 0, "missing": 0} {
			jid := q.submit(jobqueue.Job{Task: task})
			q.awaitEnd(jid, jobqueue.Failed)
			if job := q.get(jid); job.Retries != retries {
				t.Errorf("%s: %+v", task, job)
			}
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
		q.run(executor.Config{RetryDelay: time.Millisecond, RetryLimit: 1000}, map[string]jobqueue.Handler{"t": h})
		jid := q.submit(jobqueue.Job{Task: "t"})
		q.awaitEnd(jid, jobqueue.Stuck)
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		q.awaitEnd(jid, jobqueue.Success)
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

func TestCommandInAMissingDirectory(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		job, _ := q.command(handlers.CommandConfig{Argv: []string{"/bin/true"}, Dir: "/no/such/directory"}, jobqueue.Job{})
		if job.State != jobqueue.Failed || !strings.Contains(job.Result, "working directory: stat /no/such/directory") {
			t.Errorf("%s, result %q", job.State, job.Result)
		}
	})
}
