package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// What SQL can write, and nobody means: pauses that begin later, and on PostgreSQL an empty id. A pause
// that has ended by itself is as it was meant.
func TestCheckOfRowsWrittenBySQL(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, paused, paused_until) VALUES
			('over', 'x', 'daily', '2026-01-01 00:00:00', '2026-01-02 00:00:00'), ('future', 'x', 'daily', '2199-01-01 00:00:00', NULL),
			('good', 'x', 'daily', '2026-01-01 00:00:00', NULL), ('good2', 'x', 'daily', '2026-01-01 00:00:00', '2199-01-01 00:00:00')`)
		report := s.Must(t, "check")
		clitest.WantLines(t, report, "warning task future paused is 2199-01-01 00:00:00 UTC, in the future, and it is paused already")
		if strings.Contains(report, "task good") || strings.Contains(report, "task over") {
			t.Errorf("a good task is reported:\n%s", report)
		}
		if storetest.At(t, s.Env["NEXTRUN_DB"]).Kind == storetest.Postgres {
			s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('', 'x', 'daily')`)
			r := s.Fails(t, ui.Changes, []string{"check"}, "errors: 1")
			clitest.WantLines(t, r.Stdout, "error task its id is empty, so commands cannot name it")
		}
	})
}
