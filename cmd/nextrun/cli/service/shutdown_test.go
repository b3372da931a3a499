package service_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/clitest"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
)

// What was begun last ends first: a job that runs ends while the scheduler
// goes on, and then the lock is released.
func TestServeEndsBackwards(t *testing.T) {
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
		s.Must(t, "task", "add", "late", "--task", "none", "--timer", "2099-01-01")
		b.Stop()
		b.WaitFor("executor is stopping")
		s.Must(t, "task", "run", "late")
		b.WaitFor("job submitted", "id=late")
		if err := running.Close(); err != nil {
			t.Fatal(err)
		}
		b.WaitFor("job ended", "task=long", "state=success")
		b.WaitFor("scheduler lock released")
		if exit := <-b.Exit; exit != ui.Done {
			t.Errorf("exit code %d", exit)
		}
	})
}
