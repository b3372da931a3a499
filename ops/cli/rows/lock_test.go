package rows_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

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
