package service_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

func TestServeRunsCommands(t *testing.T) {
	t.Parallel()
	config := clitest.WriteFile(t, "nextrun.yaml", `
handlers:
  greet: {command: [sh, -c, 'echo "hello $NEXTRUN_HANDLER"; echo progress >&2']}
  fail:  {command: [sh, -c, 'echo broken; exit 3']}
executor: {retry_limit: 0}
`)
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Failed, "executor", "no handlers are configured", "--config FILE")
		s.Start(t, "serve").WaitFor("WARN", "no handlers are configured")
		b := s.Start(t, "serve", "--config", config)
		b.WaitFor("started", "name=test")
		s.Must(t, "task", "add", "hi", "--handler", "greet", "--timer", "2099-01-01")
		s.Says(t, ui.Done, "task run hi", "hi: job ")
		s.Must(t, "task", "add", "tell", "--handler", "told", "--timer", "yearly", "--sink", "event")
		s.Says(t, ui.Done, "task run tell", "tell: event ")
		b.WaitFor("INFO", "job ended", "task=hi", "handler=greet", "state=success")
		jid := s.Submit(t, "fail")
		b.WaitFor("WARN", "job ended", "handler=fail", "state=failed")
		s.Says(t, ui.Done, "job show "+jid, "state failed", "result ")
		s.Says(t, ui.Done, "job log --follow "+jid, "broken")
		b.Stop()
		b.WaitFor("stopped")
		if exit := <-b.Exit; exit != ui.Done {
			t.Errorf("exit code %d", exit)
		}
	})
}

// A failure to start names the stage; an exclusive scheduler, who is there already.
func TestStartSaysWhatFailed(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Failed, "scheduler --config none.yaml", "start failed at configuration")
		first := s.Start(t, "scheduler", "--mode", "exclusive", "--name", "first")
		first.WaitFor("started", "name=first")
		s.Says(t, ui.Failed, "serve --mode exclusive", "start failed at scheduler", "another instance", "first@", "--mode leader", "nextrun lock release")
		first.Stop()
		if exit := <-first.Exit; exit != ui.Done {
			t.Errorf("exit code %d after the signal, want %d", exit, ui.Done)
		}
		s.Start(t, "scheduler", "--mode", "exclusive", "--name", "second", "--log-format", "json").WaitFor(`"msg":"started"`, `"name":"second"`, `"level":"info"`)
	})
}

func TestSchedulerBesideDocspell(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `CREATE TABLE node (id varchar(254), type varchar(254), url varchar(254), not_found integer)`)
		s.Exec(t, `INSERT INTO node VALUES ('joex1', 'joex', 'http://joex1', 0)`)
		for _, command := range []string{"serve", "scheduler", "scheduler --once"} {
			s.Says(t, ui.Failed, command, "joex1", "--beside-docspell")
		}
		s.Must(t, "scheduler", "--once", "--beside-docspell")
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {echo: {command: [echo]}}\n")
		s.Start(t, "executor", "--config", config).WaitFor("started", "name=test") // it does not schedule
	})
}

// The scheduler ends first, and releases its lock: no job is submitted while a running one
// ends. What falls due then is left to the next scheduler.
func TestServeEndsTheSchedulerFirst(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		fifo := filepath.Join(t.TempDir(), "go-on")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers:\n  long: {command: [cat, '"+fifo+"']}\n")
		b := s.Start(t, "serve", "--mode", "leader", "--config", config)
		b.WaitFor("scheduler lock acquired")
		s.Submit(t, "long")
		running, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits for the command
		if err != nil {
			t.Fatal(err)
		}
		s.Must(t, "task", "add", "late", "--handler", "none", "--timer", "2099-01-01")
		b.Stop()
		b.WaitFor("scheduler lock released")
		b.WaitFor("executor is stopping")
		s.Exec(t, "UPDATE periodic_task SET nextrun = '2026-01-01 00:00:00' WHERE id = 'late'")
		if err := running.Close(); err != nil {
			t.Fatal(err)
		}
		b.WaitFor("job ended", "handler=long", "state=success")
		if exit := <-b.Exit; exit != ui.Done {
			t.Errorf("exit code %d", exit)
		}
		var ticks []struct{ Due string }
		if s.JSON(t, &ticks, "tick", "list"); len(ticks) != 0 {
			t.Errorf("a job was submitted while the process ended: %v", ticks)
		}
	})
}

// A signal that comes before all parts are healthy stops the process like any other: it
// says that it stops, and that it has.
func TestSignalDuringTheStart(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers:\n  none: {command: ['true']}\n")
		d := storetest.At(t, s.Env["NEXTRUN_DB"])
		lock := "SELECT 1" // on SQLite the transaction locks the file
		if d.Kind == storetest.Postgres {
			lock = "LOCK TABLE periodic_task IN EXCLUSIVE MODE"
		}
		writing := d.Hold(lock)
		b := s.Start(t, "serve", "--config", config)
		b.WaitFor("executor started") // the scheduler's first round does not end
		b.Stop()
		b.WaitFor("stopping")
		_ = writing.Rollback()
		b.WaitFor("INFO  stopped")
		if exit := <-b.Exit; exit != ui.Done {
			t.Errorf("exit code %d", exit)
		}
	})
}
