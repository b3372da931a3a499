package task_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// addOutcomes adds tasks that failed, were skipped, emit events, feed another queue,
// and have not run.
func addOutcomes(t *testing.T, s clitest.Shell) {
	t.Helper()
	for _, statement := range []string{
		`INSERT INTO periodic_task (id, task, timer, sink) VALUES ('fails', 'x', 'yearly', 'job'), ('emits', 'x', 'yearly', 'event'),
			('feeds', 'y', 'yearly', 'river'), ('new', 'x', 'yearly', 'job'), ('slow', 'x', 'yearly', 'job')`,
		`UPDATE periodic_task SET nextrun = '2099-01-01 00:00:00.000000'`,
		`INSERT INTO periodic_tick (task_id, due, decision, reason, jid, decided) VALUES
			('fails', '2026-01-02 00:00:00.000000', 'submitted', NULL, 'j2', '2026-01-02 00:00:01.000000'),
			('slow', '2026-01-01 00:00:00.000000', 'submitted', NULL, 'j1', '2026-01-01 00:00:01.000000'),
			('slow', '2026-01-03 00:00:00.000000', 'skipped', 'the job of 00:00 runs', NULL, '2026-01-03 00:00:01.000000'),
			('emits', '2026-01-01 00:00:00.000000', 'submitted', NULL, 'e1', '2026-01-01 00:00:01.000000'),
			('feeds', '2026-01-01 00:00:00.000000', 'submitted', NULL, 'r1', '2026-01-01 00:00:01.000000')`,
		`INSERT INTO job (jid, task, tracker, state, started, finished, result) VALUES
			('j1', 'x', 'slow', 'running', '2026-01-01 00:00:02.000000', NULL, NULL),
			('j2', 'x', 'fails', 'failed', '2026-01-02 00:00:02.000000', '2026-01-02 00:00:03.000000', 'exit status 2')`,
		`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e1', 'd', 'x', 'emits', 1)`,
		`INSERT INTO outbox_message (event_id, topic, dead, problem) VALUES ('e1', 'd', '2026-01-01 00:00:05.000000', 'status 400')`,
	} {
		s.Exec(t, statement)
	}
}

// The list of tasks answers whether it worked. Of one task what matters comes first, defaults are left out, and each tick leads to
// its job or its event.
func TestOutcomesOfTasks(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		addOutcomes(t, s)
		s.Says(t, ui.Done, "task list", "ID STATE LAST RUN NEXT RUN AT TIMER HANDLER ATTENTION",
			"emits failed ", "fails failed ", "feeds submitted ", "new not run yet - in ", "slow running ")
		s.Says(t, ui.Done, "task list --handler y", "feeds submitted", "! fails")
		var tasks []struct {
			LastRun *struct {
				State, Result *string
				JID           string
			} `json:"last_run"`
			LastTick *struct{ Decision string } `json:"last_tick"`
		}
		s.JSON(t, &tasks, "task", "list")
		if len(tasks) != 5 || *tasks[1].LastRun.State != "failed" || *tasks[1].LastRun.Result != "exit status 2" ||
			tasks[2].LastRun.State != nil || tasks[3].LastRun != nil || tasks[4].LastTick.Decision != "skipped" || tasks[4].LastRun.JID != "j1" {
			t.Errorf("as JSON: %+v", tasks)
		}
		for id, want := range map[string][]string{
			"fails": {"state failed", "last run failed, ", "took 1.00 s", "2026-01-02 00:00:00 UTC failed j2 exit status 2"},
			"slow":  {"state running", "2026-01-03 00:00:00 UTC skipped - the job of 00:00 runs", "2026-01-01 00:00:00 UTC running j1"},
			"emits": {"state failed", "2026-01-01 00:00:00 UTC failed e1 status 400", "sink event"},
			"feeds": {"state submitted", "2026-01-01 00:00:00 UTC submitted r1"},
		} {
			s.Says(t, ui.Done, "task show "+id, append(want, "task "+id+" state ", "! overlap skip", "! catchup", "! grace", "! submitter", "! priority")...)
		}
	})
}
