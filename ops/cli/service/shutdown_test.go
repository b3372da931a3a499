package service_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

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
