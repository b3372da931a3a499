package handlers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/handlers"
)

// endsAsAWhole checks that a job whose processes ignore SIGTERM, and have
// children, ends together with them. It reports whether they had begun by then.
func endsAsAWhole(q *fixture, cfg handlers.CommandConfig, end func(jid string, begun func() bool), state jobqueue.State) bool {
	q.Helper()
	pids := filepath.Join(q.TempDir(), "pids")
	cfg.Argv = script(`trap '' TERM; sleep 1000 & echo "$$ $!" > ` + pids + `.new; mv ` + pids + `.new ` + pids + `; while :; do sleep 1000; done`)
	cfg.KillGrace = time.Millisecond
	h, err := handlers.Command(cfg)
	if err != nil {
		q.Fatal(err)
	}
	q.run(executor.Config{RetryLimit: executor.Never}, map[string]jobqueue.Handler{"t": h})
	jid := q.submit(jobqueue.Job{Task: "t"})
	end(jid, func() bool { return exists(pids) })
	q.awaitEnd(jid, state)
	said, err := os.ReadFile(pids)
	for _, pid := range strings.Fields(string(said)) {
		storetest.Eventually(q, "process "+pid+" is gone", func() bool { return !alive(pid) })
	}
	return err == nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// alive reports whether a process is there and no zombie that nobody reaps.
func alive(pid string) bool {
	out, _ := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	state := strings.TrimSpace(string(out))
	return state != "" && state[0] != 'Z'
}

func TestCancelledCommandEndsAsAWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		endsAsAWhole(q, handlers.CommandConfig{}, func(jid string, begun func() bool) {
			storetest.Eventually(t, "the script runs", begun)
			if _, err := q.queue.Cancel(q.ctx, jid); err != nil {
				t.Fatal(err)
			}
		}, jobqueue.Cancelled)
	})
}

func TestCommandThatTakesTooLongEndsAsAWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		nothing := func(string, func() bool) {}
		for timeout := 50 * time.Millisecond; !endsAsAWhole(q, handlers.CommandConfig{Timeout: timeout}, nothing, jobqueue.Failed); {
			timeout *= 4 // the script needs longer to begin
		}
	})
}

// A program that ends because the executor asked it to has not done its job.
func TestCommandThatStopsInOrderIsNotDone(t *testing.T) {
	for name, end := range map[string]struct {
		by    func(q *fixture, e *executor.Executor, jid string)
		state jobqueue.State
	}{
		"cancelled": {func(q *fixture, _ *executor.Executor, jid string) {
			if _, err := q.queue.Cancel(q.ctx, jid); err != nil {
				q.Fatal(err)
			}
		}, jobqueue.Cancelled},
		"shutdown": {func(q *fixture, e *executor.Executor, _ string) {
			if err := e.Stop(q.ctx); err != nil {
				q.Fatal(err)
			}
		}, jobqueue.Waiting},
		"too long": {func(*fixture, *executor.Executor, string) {}, jobqueue.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, q *fixture) {
				ready := filepath.Join(q.TempDir(), "ready")
				cfg := handlers.CommandConfig{KillGrace: time.Hour, Argv: script(`trap 'exit 0' TERM; echo > ` + ready + `; sleep 1000 & wait`)}
				if name == "too long" {
					cfg.Timeout = time.Second // on a slow machine it may end before its trap is set; it fails all the same
				}
				h, err := handlers.Command(cfg)
				if err != nil {
					q.Fatal(err)
				}
				e := q.run(executor.Config{RetryLimit: executor.Never, ShutdownGrace: -1}, map[string]jobqueue.Handler{"t": h})
				jid := q.submit(jobqueue.Job{Task: "t"})
				if name != "too long" {
					storetest.Eventually(t, "the script runs", func() bool { return exists(ready) })
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
