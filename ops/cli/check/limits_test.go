package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

func TestCheckWarnsOfLimitsWithoutEffect(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.MakeRiver(t)
		config := clitest.WriteFile(t, "nextrun.yaml", "queues:\n  river: {type: river, queue: x}\n  first: {type: river, queue: x, priority: 1}\n")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, sink, retry_limit, timeout, priority) VALUES
			('event', 'x', 'daily', 'event', NULL, 60, 5), ('plain', 'x', 'daily', 'event', NULL, NULL, 0), ('job', 'x', 'daily', 'job', 0, 60, 5),
			('river', 'x', 'daily', 'river', 0, NULL, 5), ('slow', 'x', 'daily', 'river', 0, 60, 5), ('first', 'x', 'daily', 'first', NULL, NULL, 5)`)
		report := s.Must(t, "check", "--config", config)
		clitest.WantLines(t, report, "warning task event timeout has no effect with sink event",
			"warning task slow timeout has no effect with sink river; set it in that queue, or in its workers",
			"warning task first priority has no effect with sink first; set it in that queue, or in its workers")
		if strings.Count(report, "no effect") != 3 {
			t.Errorf("other tasks are reported:\n%s", report)
		}
	})
}
