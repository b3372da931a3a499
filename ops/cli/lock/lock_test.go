package lock_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// lockLine is what `nextrun lock show --json` tells.
type lockLine struct {
	Lock, State, Holder, Hostname string
	PID, Token                    int
	Expires                       *string
}

func locks(t *testing.T, s clitest.Shell) (lines []lockLine) {
	t.Helper()
	s.JSON(t, &lines, "lock", "show")
	return lines
}

func TestLockOfAStoppedInstanceIsFree(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		if out := s.Must(t, "lock", "show"); !strings.HasPrefix(out, "none; the modes leader and exclusive make one: nextrun ") {
			t.Errorf("before anybody had a lock: %q", out)
		}
		s.Fails(t, ui.Failed, []string{"lock", "release"}, `nobody ever held a lock "scheduler"`)
		leads := s.Start(t, "scheduler", "--mode", "leader", "--name", "one")
		leads.WaitFor("scheduler lock acquired", "token=1")
		clitest.WantLines(t, s.Must(t, "lock", "show"), "LOCK STATE HOLDER HOST PID TOKEN", "scheduler held one@")
		l := locks(t, s)[0]
		if l.State != "held" || !strings.HasPrefix(l.Holder, "one@") || l.Hostname == "" || l.PID == 0 || l.Token != 1 || l.Expires == nil {
			t.Errorf("lock show --json: %+v, want who holds it", l)
		}
		leads.Stop()
		<-leads.Exit
		if l := locks(t, s)[0]; l.State != "released" || l.Token != 1 || l.Expires != nil {
			t.Errorf("after the end: %+v, want released with its token", l)
		}
		if out := s.Must(t, "lock", "release"); !strings.Contains(out, "free already") {
			t.Errorf("release of a free lock says %q", out)
		}
	})
}

func TestLockReleaseLeavesALiveHolderAlone(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		leads := s.Start(t, "scheduler", "--mode", "leader", "--name", "one")
		leads.WaitFor("scheduler lock acquired")
		s.Fails(t, ui.Failed, []string{"lock", "release"}, "is held by one@", "last heartbeat", "--force", "stops scheduling")
		if l := locks(t, s)[0]; l.State != "held" {
			t.Errorf("the lock is %s", l.State)
		}
		waits := s.Start(t, "scheduler", "--mode", "leader", "--name", "two")
		waits.WaitFor("standing by", "holder=one@")
		if out := s.Must(t, "lock", "release", "--force"); !strings.Contains(out, "is ended") {
			t.Errorf("release --force says %q", out)
		}
		waits.WaitFor("scheduler lock acquired", "token=2")
		leads.WaitFor("scheduler lock lost; scheduling stopped")
	})
}

func TestLockOfADeadHolderCanBeEnded(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO scheduler_lock VALUES ('reports', 'dead/1', 'h', 1, 3,
			'2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000', '2026-01-01 00:01:00.000000')`)
		if l := locks(t, s)[0]; l.State != "expired" {
			t.Errorf("the lock is %s, want expired", l.State)
		}
		if out := s.Must(t, "lock", "release", "reports"); !strings.Contains(out, "had expired") {
			t.Errorf("release says %q", out)
		}
		if l := locks(t, s)[0]; l.State != "released" || l.Token != 3 {
			t.Errorf("the lock is %+v, want released with token 3", l)
		}
	})
}

func TestLockReleaseIsSafeForTerminals(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO scheduler_lock VALUES ('reports', 'dead`+"\x1b[31m\n"+`/1', 'h`+"\x1b"+`', 1, 3,
			'2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000', '2126-01-01 00:01:00.000000')`)
		r := s.Fails(t, ui.Failed, []string{"lock", "release", "reports"}, "is held by dead?[31m /1")
		if out := s.Must(t, "lock", "release", "reports", "--force"); strings.Contains(r.Stderr+out, "\x1b") {
			t.Errorf("release says %q and %q", r.Stderr, out)
		}
	})
}
