package scheduler_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// pauseBySQL is how somebody pauses a task who knows the table only.
const pauseBySQL = "UPDATE periodic_task SET paused = CURRENT_TIMESTAMP, paused_by = 'ada', paused_reason = 'moving' WHERE id = ?"

// What falls due during a pause is skipped and says why, the plan goes on, and the
// next tick after the pause runs.
func TestPausedTicksAreSkipped(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.once()
		planned := f.one("SELECT nextrun FROM periodic_task")
		f.exec(pauseBySQL, "report")
		f.want(planned, "SELECT nextrun FROM periodic_task")
		f.due("report", time.Second)
		f.once()
		f.want(0, "SELECT count(*) FROM job")
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE decision = 'skipped' AND cause = 'paused' AND reason = 'ada: moving'")
		f.want(1, "SELECT count(*) FROM periodic_task WHERE nextrun > ?", f.at(0))
		f.exec("UPDATE periodic_task SET paused = NULL")
		f.due("report", time.Second)
		f.once()
		f.want(1, "SELECT count(*) FROM job")
		f.guarantees()
	})
}

// Run-now runs a paused task, unless a job is in the way. The timer goes on and stays paused.
func TestRunNowRunsAPausedTask(t *testing.T) {
	both(t, func(f *fixture) {
		f.held("queue")
		f.exec("UPDATE periodic_task SET paused = ?", f.at(0))
		tasks, pending := periodic.NewTasks(f.db.Tasks()), new(periodic.PendingError)
		if err := tasks.RunNow(f.Context(), "report"); !errors.As(err, &pending) {
			f.Fatalf("run beside a job: %v", err)
		}
		f.exec("UPDATE job SET state = 'success'")
		f.done(tasks.RunNow(f.Context(), "report"))
		f.want(2, "SELECT count(*) FROM job")
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE decision = 'submitted' AND cause = 'by_hand'")
		f.want(1, "SELECT count(*) FROM periodic_task WHERE paused IS NOT NULL")
		f.guarantees()
	})
}

// Somebody who resumes a task by `paused` alone leaves nothing of the pause, and a new
// pause does not end when an earlier one did.
func TestPausesBySQLBeginAndEndCleanly(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		const all = "SELECT coalesce(CAST(paused_until AS varchar(30)), '') || coalesce(paused_by, '') || coalesce(paused_reason, '') FROM periodic_task"
		f.exec(pauseBySQL, "report")
		f.exec("UPDATE periodic_task SET paused_until = '2199-01-01 00:00:00'")
		f.exec("UPDATE periodic_task SET paused = NULL")
		f.want("", all)

		f.exec("UPDATE periodic_task SET paused = '2026-01-01 00:00', paused_until = '2026-01-02 00:00', paused_by = 'ada'")
		f.exec("UPDATE periodic_task SET paused = ?, paused_by = 'bob'", f.at(0))
		f.want("bob", all)
		f.exec("UPDATE periodic_task SET paused_until = ?", f.at(-time.Second)) // one that ends a pause stays
		f.want(1, "SELECT count(*) FROM periodic_task WHERE paused_until < paused")
	})
}
