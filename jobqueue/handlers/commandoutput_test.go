package handlers_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/handlers"
)

// capped is a log of so many lines and one that says that the rest was dropped.
func capped(lines int) func(log []string) bool {
	return func(log []string) bool { return len(log) == lines+1 && strings.Contains(log[lines], "dropped") }
}

func exactly(lines ...string) func(log []string) bool {
	return func(log []string) bool { return slices.Equal(log, lines) }
}

// What a command prints becomes the log of its job.
func TestCommandOutput(t *testing.T) {
	umlauts := "x" + strings.Repeat("ü", 20_000)
	for name, c := range map[string]struct {
		cfg  handlers.CommandConfig
		args string
		want func(log []string) bool
	}{
		"args too long for the environment": {
			handlers.CommandConfig{Argv: script(`echo "${NEXTRUN_ARGS-none}"; wc -c | tr -d ' '`)},
			strings.Repeat("x", 1<<20), exactly("none", "1048576"),
		},
		"cut between characters": {
			handlers.CommandConfig{Argv: []string{"cat"}},
			umlauts, func(log []string) bool { return len(log) == 3 && strings.Join(log, "") == umlauts },
		},
		"capped":             {handlers.CommandConfig{Argv: script(`yes 123456789 | head -100000`), MaxOutput: 95}, "", capped(10)},
		"empty lines capped": {handlers.CommandConfig{Argv: script(`yes '' | head -20000`), MaxOutput: 1024}, "", capped(1024/16 + 100)},
		"env goes before without": {
			handlers.CommandConfig{
				Argv:    script(`env | grep ^HANDLERS_TEST_ | sort`),
				Env:     []string{"HANDLERS_TEST_NAMED=of the handler"},
				Without: []string{"HANDLERS_TEST_SECRET", "HANDLERS_TEST_NAMED"},
			},
			"", exactly("HANDLERS_TEST_NAMED=of the handler", "HANDLERS_TEST_OPEN=of the process"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, q *fixture) {
				job, log := q.command(c.cfg, jobqueue.Job{Args: c.args})
				if job.State != jobqueue.Success || !c.want(log) {
					t.Errorf("%s, %d lines of log: %.1000q", job.State, len(log), log)
				}
			})
		})
	}
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
		q.run(executor.Config{}, map[string]jobqueue.Handler{"t": h})
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
