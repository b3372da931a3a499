package check_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// What a scheduler and an executor have done is in order; a tick that somebody deletes
// is missed, by name.
func TestGuarantees(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, sink) VALUES ('beat', 'happened', '*:*:*', 'event')`)
		scheduler := s.Start(t, "scheduler")
		for range 3 {
			scheduler.WaitFor("event written")
		}
		scheduler.Stop()
		<-scheduler.Exit
		s.Exec(t, `UPDATE periodic_task SET enabled = false WHERE id <> 'beat'`)
		s.Says(t, ui.Done, "check --guarantees", "checks: ")
		s.Exec(t, `DELETE FROM periodic_tick WHERE due = (SELECT due FROM periodic_tick WHERE task_id = 'beat' ORDER BY due LIMIT 1 OFFSET 1)`)
		s.Says(t, ui.Changes, "check --guarantees", "violations: 1, checks not done: 0")
		var report struct {
			Findings []struct {
				Level, Guarantee, Remedy string
				Rows                     []struct{ About, Detail string }
			}
			Undone []string
		}
		clitest.Decode(t, s.Run(t.Context(), "check", "--guarantees", "--json").Stdout, &report)
		if report.Undone == nil || len(report.Findings) != 1 || report.Findings[0].Level != "violation" || report.Findings[0].Guarantee != "G2" ||
			len(report.Findings[0].Rows) != 1 || report.Findings[0].Rows[0].About != "beat" || report.Findings[0].Remedy == "" {
			t.Errorf("check --guarantees --json: %+v", report)
		}
		s.Says(t, ui.WrongUsage, "check --guarantees --since soon", "use")
		s.Exec(t, `UPDATE nextrun_found SET name = 'made by 0123456789abcdef' WHERE name LIKE 'made by %'`)
		s.Says(t, ui.Failed, "check --guarantees", "made by another version of nextrun")
	})
}
