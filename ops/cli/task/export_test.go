package task_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// SQLite accepts text that is not UTF-8, which YAML cannot hold; PostgreSQL
// refuses it.
func TestExportNamesTasksThatAreNotUTF8(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "good", "--handler", "x", "--timer", "daily")
		if !strings.HasPrefix(s.Env["NEXTRUN_DB"], "sqlite:") {
			s.Says(t, ui.Done, "task export", "good:")
			return
		}
		for _, column := range []string{"args", "summary", "group_", "subject"} {
			s.Exec(t, `INSERT INTO periodic_task (id, task, timer, `+column+`) VALUES ('bad `+column+`', 'x', 'daily', CAST(x'7b22ff227d' AS text))`)
		}
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES (CAST(x'ff' AS text), 'x', 'daily')`)
		r := s.Says(t, ui.Failed, "task export", "tasks left out: 5 of ", `task "bad args" left out: its args is not UTF-8 text`,
			`task "bad summary" left out: its summary`, `task "bad group_" left out: its group_`, `task "bad subject" left out`, `task "\xff" left out: its id`)
		if !strings.Contains(r.Stdout, "good:") || strings.Contains(r.Stdout, "bad") {
			t.Errorf("standard output:\n%s", r.Stdout)
		}
		s.Must(t, "task", "apply", "-f", clitest.WriteFile(t, "tasks.yaml", r.Stdout), "--dry-run") // it is a good file
	})
}
