package task_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// The beginning of an id will do; what fits no task gets a suggestion.
func TestWhyFindsTheTask(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, id := range []string{"nightly-backup", "nightly-report", "weekly"} {
			s.Exec(t, "INSERT INTO periodic_task (id, task, timer) VALUES ('"+id+"', 'x', 'yearly')")
		}
		s.Says(t, ui.Done, "why week", "weekly")
		s.Says(t, ui.Failed, "why nightly", "several ids begin so: nightly-backup or nightly-report")
		s.Says(t, ui.Failed, "why backup", "did you mean nightly-backup?")
		s.Says(t, ui.Failed, "why nope", "not found", "nextrun task list")
	})
}
