package job_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// A job that failed in a queue that is not nextrun's own is put back there, and its end is recorded anew.
func TestJobOfAnotherQueueIsRetried(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.MakeRiver(t)
		s.Env["NEXTRUN_CONFIG"] = clitest.WriteFile(t, "nextrun.yaml", "queues:\n  river: {type: river}\n")
		s.Must(t, "task", "add", "a", "--handler", "report", "--timer", "2099-01-01", "--sink", "river", "--disabled")
		s.Must(t, "task", "run", "a")
		d := storetest.At(t, s.Env["NEXTRUN_DB"])
		jid := d.One("SELECT jid FROM periodic_tick")
		retry := []string{"job", "retry", jid}
		s.Fails(t, ui.Failed, retry, "job "+jid, "has not ended")
		end := "UPDATE periodic_tick SET outcome = 'failed', finished = '2026-01-02 03:04:05.000000'"
		s.Exec(t, end)
		s.Fails(t, ui.Failed, retry, "is still waiting") // somebody has put it back meanwhile
		s.Exec(t, "UPDATE river_job SET state = 'discarded', finalized_at = '2026-01-02 03:04:05Z'")
		clitest.WantLines(t, s.Must(t, retry...), "waiting again: "+jid)
		d.Want("available", "SELECT state FROM river_job")
		d.Want(1, "SELECT count(*) FROM periodic_tick WHERE outcome IS NULL AND finished IS NULL")
		s.Exec(t, "UPDATE periodic_tick SET outcome = 'success'")
		s.Fails(t, ui.Failed, retry, "it ended as success; only one that failed or was cancelled can be put back")
		s.Exec(t, end)
		s.Env["NEXTRUN_CONFIG"] = ""
		s.Fails(t, ui.Failed, retry, `sink "river": this program has no queue of that name`)
		s.Fails(t, ui.Failed, []string{"job", "retry", "nobody"}, "job nobody: not found; see: nextrun job list")
	})
}
