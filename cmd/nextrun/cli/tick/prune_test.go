package tick_test

import (
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

func TestTickPrune(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES
			('a', '2026-01-01 00:00:00.000000', 'skipped', '2026-01-01 00:00:00.000000'), ('a', '2026-01-02 00:00:00.000000', 'queued', '2026-01-02 00:00:00.000000')`)
		s.Must(t, "task", "add", "b", "--task", "x", "--timer", "2099-01-01", "--disabled")
		s.Must(t, "task", "run", "b")
		clitest.WantLines(t, s.Must(t, "tick", "prune", "--older-than", "7d"), "deleted ticks: 1")
		clitest.WantLines(t, s.Must(t, "tick", "prune", "--older-than", "7d"), "deleted ticks: 0")
		clitest.WantLines(t, s.Must(t, "tick", "prune", "--older-than", "0"), "deleted ticks: 1")
		var left []struct{ Decision string }
		s.JSON(t, &left, "tick", "list")
		if len(left) != 1 || left[0].Decision != "queued" {
			t.Errorf("left are %v, want the one that waits", left)
		}
		s.Fails(t, ui.WrongUsage, []string{"tick", "prune"}, "--older-than 30d")
	})
}
