package cli_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli"
)

// What was begun last ends first: a job that runs ends while the scheduler
// goes on, and then the lock is released.
func TestServeEndsBackwards(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		fifo := filepath.Join(t.TempDir(), "go-on")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		config := writeFile(t, "nextrun.yaml", "handlers:\n  long: {command: [cat, '"+fifo+"']}\n")
		b := s.start(t, "serve", "--mode", "leader", "--config", config)
		b.waitFor("scheduler lock acquired")
		s.submit(t, "long")
		running, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits for the command
		if err != nil {
			t.Fatal(err)
		}
		s.must(t, "task", "add", "late", "--task", "none", "--timer", "2099-01-01")
		b.stop()
		b.waitFor("executor is stopping")
		s.must(t, "task", "run", "late")
		b.waitFor("job submitted", "id=late")
		if err := running.Close(); err != nil {
			t.Fatal(err)
		}
		b.waitFor("job ended", "task=long", "state=success")
		b.waitFor("scheduler lock released")
		if exit := <-b.exit; exit != cli.Done {
			t.Errorf("exit code %d", exit)
		}
	})
}
