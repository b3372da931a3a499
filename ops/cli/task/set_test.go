package task_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// A tick that is due, and that a change of the timer drops, is named.
func TestTaskSetNamesATickThatItDrops(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "a", "--handler", "h", "--timer", "yearly")
		s.Must(t, "scheduler", "--once")
		const dropped = "was due and not submitted yet; it is dropped, because the new timer plans from now on. To run the task now: nextrun task run a"
		set := func(names bool, flags ...string) {
			t.Helper()
			if said := s.Run(t.Context(), append([]string{"task", "set", "a"}, flags...)...).Stderr; strings.Contains(said, dropped) != names {
				t.Errorf("task set a %q says: %s", flags, said)
			}
		}
		set(false, "--timer", "daily")
		s.Must(t, "scheduler", "--once")
		s.Exec(t, "UPDATE periodic_task SET nextrun = '2026-01-01 00:00:00' WHERE id = 'a'")
		set(false, "--subject", "mail", "--timer", "daily")
		set(true, "--timer", "hourly")
	})
}
