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
		clitest.WantLines(t, report, "warning task future It is paused already, although its `paused` is 2199-01-01 00:00:00 UTC, which is to come.")
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

// A next run that somebody set to another time than the timer's is named, with the hour that may be wrong.
func TestCheckNamesANextRunByHand(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, "INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('late', 'x', '*-*-* 18:00', '2199-01-01 19:00:00'), ('meant', 'x', '*-*-* 18:00', '2199-01-01 18:00:00')")
		report := s.Run(t.Context(), "check").Stdout
		clitest.WantLines(t, report, "warning task late Its next run was set by hand to 2199-01-01 19:00:00 UTC; its timer elapses at ")
		if !strings.Contains(report, "That is 1 hour after a time of its timer") || strings.Contains(report, "task meant") {
			t.Errorf("check says\n%s", report)
		}
	})
}
