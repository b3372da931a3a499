package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/clitest"
)

func TestCheckWarnsOfLimitsWithoutEffect(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, sink, retry_limit, timeout) VALUES
			('event', 'x', 'daily', 'event', NULL, 60), ('plain', 'x', 'daily', 'event', NULL, NULL), ('job', 'x', 'daily', 'job', 0, 60)`)
		report := s.Must(t, "check")
		clitest.WantLines(t, report, "warning task event retry_limit, retry_delay, timeout and concurrency have no effect with sink event")
		if strings.Count(report, "have no effect") != 1 {
			t.Errorf("other tasks are reported:\n%s", report)
		}
	})
}
