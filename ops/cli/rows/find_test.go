package rows_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// A part of a job's id will do, also as a narrow table shows it, and with --last a task.
// What several have names them and changes none.
func TestJobIsFoundByAPartOfItsID(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, jid := range []string{"01a1-aa-x", "01a1-ab-x", "01a1-bb-y", "a%_", "a_%"} {
			s.Exec(t, "INSERT INTO job (jid, task) VALUES ('"+jid+"', 'dump')")
		}
		for text, jid := range map[string]string{"01a1-b": "01a1-bb-y", "…ab-x": "01a1-ab-x", "a%": "a%_", "ab-x": "01a1-ab-x", "1-bb": "01a1-bb-y"} {
			s.Says(t, ui.Done, "job show "+text, "job "+jid)
		}
		many := []string{"several ids are like that", "\n  01a1-ab-x  dump  waiting", "\n  01a1-aa-x  dump  waiting"}
		s.Says(t, ui.Failed, "job show 01a1-a", many...)
		s.Says(t, ui.Failed, "job cancel 01a1-b 01a1-a", many...)
		s.Says(t, ui.Done, "job show 01a1-bb-y", "state waiting")
		s.Says(t, ui.Done, "job cancel 01a1-b", "cancelled 01a1-bb-y")
		s.Says(t, ui.Failed, "job show 1a2", "not found", "nextrun job list")
		s.Says(t, ui.Failed, "job show ''", "not found")

		s.Exec(t, "INSERT INTO periodic_task (id, task, timer, sink) VALUES ('nightly', 'dump', 'yearly', 'job'), ('idle', 'dump', 'yearly', 'job'), ('emits', 'dump', 'yearly', 'event')")
		s.Exec(t, "INSERT INTO job (jid, task, tracker, submitted) VALUES ('j1', 'dump', 'nightly', '2026-01-01 00:00:00.000000'), ('j2', 'dump', 'nightly', '2026-01-02 00:00:00.000000')")
		s.Exec(t, "INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', 'j2', 'error', '2026-01-02 00:00:00.000000', 'no space left')")
		s.Says(t, ui.Done, "job show --last night", "job j2", "handler dump", "task nightly")
		s.Says(t, ui.Done, "job log nightly --last", "2026-01-02 00:00:00 UTC error no space left")
		s.Says(t, ui.Failed, "job show --last idle", "has no job", "nextrun why idle")
		s.Says(t, ui.Failed, "job log --last emits", "nextrun event list --task emits")
	})
}

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
		retry := "job retry " + jid
		s.Says(t, ui.Failed, retry, "job "+jid, "has not ended")
		const end = "UPDATE periodic_tick SET outcome = 'failed', finished = '2026-01-02 03:04:05.000000'"
		s.Exec(t, end)
		s.Says(t, ui.Failed, retry, "is still waiting") // somebody has put it back meanwhile
		s.Exec(t, "UPDATE river_job SET state = 'discarded', finalized_at = '2026-01-02 03:04:05Z'")
		s.Says(t, ui.Done, retry, "waiting again: "+jid)
		d.Want("available", "SELECT state FROM river_job")
		d.Want(1, "SELECT count(*) FROM periodic_tick WHERE outcome IS NULL AND finished IS NULL")
		s.Exec(t, "UPDATE periodic_tick SET outcome = 'success'")
		s.Says(t, ui.Failed, retry, "it ended as success; only one that failed or was cancelled can be put back")
		s.Exec(t, end)
		s.Env["NEXTRUN_CONFIG"] = ""
		s.Says(t, ui.Failed, retry, `sink "river": this program has no queue of that name`)
	})
}

// lockLine is what `nextrun lock show --json` tells.
type lockLine struct {
	Lock, State, Holder, Hostname string
	PID                           int
}

func locks(t *testing.T, s clitest.Shell) (lines []lockLine) {
	t.Helper()
	s.JSON(t, &lines, "lock", "show")
	return lines
}

// A lock is free when its holder stops; one whose holder lives is not released by mistake.
func TestLockOfAHolder(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Done, "lock show", "none is held; the modes leader and exclusive have one: nextrun ")
		s.Says(t, ui.Failed, "lock release", `nobody holds a lock "scheduler"`)
		leads := s.Start(t, "scheduler", "--mode", "leader", "--name", "one")
		leads.WaitFor("scheduler lock acquired")
		s.Says(t, ui.Done, "lock show", "LOCK STATE HOLDER HOST PID", "scheduler held one@")
		s.Says(t, ui.Failed, "lock release", "is held by one@", "last heartbeat", "--force", "stops scheduling")
		if l := locks(t, s)[0]; l.State != "held" || !strings.HasPrefix(l.Holder, "one@") || l.Hostname == "" || l.PID == 0 {
			t.Errorf("lock show --json: %+v, want who holds it", l)
		}
		waits := s.Start(t, "scheduler", "--mode", "leader", "--name", "two")
		waits.WaitFor("standing by", "holder=one@")
		s.Says(t, ui.Done, "lock release --force", "is ended")
		waits.WaitFor("scheduler lock acquired")
		leads.WaitFor("scheduler lock lost; scheduling stopped")
		leads.Stop()
		<-leads.Exit
		waits.Stop()
		<-waits.Exit
		if l := locks(t, s); len(l) > 0 {
			t.Errorf("after the end: %+v, want none", l)
		}
	})
}

// A lock of a dead holder can be ended, whatever its name holds.
func TestLockOfADeadHolderCanBeEnded(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO scheduler_lock VALUES ('reports', 'dead`+"\x1b[31m\n"+`/1', 'h`+"\x1b"+`', 1, 3,
			'2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000', '2126-01-01 00:01:00.000000')`)
		s.Says(t, ui.Failed, "lock release reports", "is held by dead?[31m /1", "! \x1b")
		s.Exec(t, "UPDATE scheduler_lock SET expires = '2026-01-01 00:01:00.000000'")
		if l := locks(t, s)[0]; l.State != "expired" {
			t.Errorf("the lock is %s, want expired", l.State)
		}
		s.Says(t, ui.Done, "lock release reports", "had expired", "! \x1b")
		if l := locks(t, s); len(l) > 0 {
			t.Errorf("the lock is %+v, want none", l)
		}
	})
}
