package main_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// The command of a job does not outlive an executor that is killed: another one
// will run the job again.
func TestCommandEndsWithAKilledExecutor(t *testing.T) {
	t.Parallel()
	url, dir := storetest.SQLiteURL(t), t.TempDir()
	config, mark := filepath.Join(dir, "nextrun.yaml"), filepath.Join(dir, "mark")
	write(t, config, `
handlers:
  long:
    command: [sh, -c, 'echo $$ > "$MARK.new"; mv "$MARK.new" "$MARK"; exec sleep 600']
    env: {MARK: "`+mark+`"}
`)
	nextrun(t, url, ui.Done, "migrate", "up")
	p := startProcess(t, url, "executor", "--config", config)
	p.WaitFor("executor started")
	nextrun(t, url, ui.Done, "job", "submit", "long")
	var pid string
	storetest.Eventually(t, "the command runs", func() bool {
		text, err := os.ReadFile(mark)
		pid = strings.TrimSpace(string(text))
		return err == nil
	})
	if !lives(pid) {
		t.Fatalf("there is no process %s", pid)
	}
	t.Cleanup(func() {
		if id, err := strconv.Atoi(pid); err == nil && t.Failed() {
			_ = syscall.Kill(id, syscall.SIGKILL)
		}
	})
	p.Signal(syscall.SIGKILL)
	p.End()
	storetest.Eventually(t, "the command has ended", func() bool { return !lives(pid) })
}

// lives reports whether a process is there and is more than a zombie.
func lives(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}
