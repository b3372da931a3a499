package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// Ticks that are late by design are named before anybody waits for their jobs.
func TestCheckWarnsOfDeadlinesThatTicksMiss(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, deadline, jitter, enabled) VALUES
			('none', 'x', 'daily', 0, 0, true), ('jitter', 'x', 'daily', 0, 30, true),
			('short', 'x', 'daily', 20, 30, true), ('good', 'x', 'daily', 60, 30, true), ('good2', 'x', 'daily', 1, 0, true), ('off', 'x', 'daily', 0, 0, false)`)
		report := s.Must(t, "check")
		clitest.WantLines(t, report, "warning task none deadline is 0 seconds, so every tick is late",
			"warning task jitter deadline is 0 seconds, so every tick is late")
		for _, id := range []string{"short", "good", "good2", "off"} {
			if strings.Contains(report, "task "+id+" ") {
				t.Errorf("task %s is reported:\n%s", id, report)
			}
		}
	})
}
