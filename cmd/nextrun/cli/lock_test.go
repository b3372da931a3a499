package cli_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli"
)

// lockLine is what `nextrun lock show --json` tells.
type lockLine struct {
	Lock, State, Holder, Hostname string
	PID, Token                    int
	Expires                       *string
}

func (s shell) locks(t *testing.T) (lines []lockLine) {
	t.Helper()
	s.json(t, &lines, "lock", "show")
	return lines
}

func TestLockOfAStoppedInstanceIsFree(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		if out := s.must(t, "lock", "show"); out != "none\n" {
			t.Errorf("before anybody had a lock: %q", out)
		}
		s.fails(t, cli.Failed, []string{"lock", "release"}, `nobody ever held a lock "scheduler"`)
		leads := s.start(t, "scheduler", "--mode", "leader", "--name", "one")
		leads.waitFor("scheduler lock acquired", "token=1")
		wantLines(t, s.must(t, "lock", "show"), "LOCK STATE HOLDER HOST PID TOKEN", "scheduler held one/")
		l := s.locks(t)[0]
		if l.State != "held" || !strings.HasPrefix(l.Holder, "one/") || l.Hostname == "" || l.PID == 0 || l.Token != 1 || l.Expires == nil {
			t.Errorf("lock show --json: %+v, want who holds it", l)
		}
		leads.stop()
		<-leads.exit
		if l := s.locks(t)[0]; l.State != "released" || l.Token != 1 || l.Expires != nil {
			t.Errorf("after the end: %+v, want released with its token", l)
		}
		if out := s.must(t, "lock", "release"); !strings.Contains(out, "free already") {
			t.Errorf("release of a free lock says %q", out)
		}
	})
}

func TestLockReleaseLeavesALiveHolderAlone(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		leads := s.start(t, "scheduler", "--mode", "leader", "--name", "one")
		leads.waitFor("scheduler lock acquired")
		s.fails(t, cli.Failed, []string{"lock", "release"}, "is held by one/", "last heartbeat", "--force", "stops scheduling")
		if l := s.locks(t)[0]; l.State != "held" {
			t.Errorf("the lock is %s", l.State)
		}
		waits := s.start(t, "scheduler", "--mode", "leader", "--name", "two")
		waits.waitFor("standing by", "holder=one/")
		if out := s.must(t, "lock", "release", "--force"); !strings.Contains(out, "is ended") {
			t.Errorf("release --force says %q", out)
		}
		waits.waitFor("scheduler lock acquired", "token=2")
		leads.waitFor("scheduler lock lost; scheduling stopped")
	})
}

func TestLockOfADeadHolderCanBeEnded(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		s.exec(t, `INSERT INTO scheduler_lock VALUES ('reports', 'dead/1', 'h', 1, 3,
			'2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000', '2026-01-01 00:01:00.000000')`)
		if l := s.locks(t)[0]; l.State != "expired" {
			t.Errorf("the lock is %s, want expired", l.State)
		}
		if out := s.must(t, "lock", "release", "reports"); !strings.Contains(out, "had expired") {
			t.Errorf("release says %q", out)
		}
		if l := s.locks(t)[0]; l.State != "released" || l.Token != 3 {
			t.Errorf("the lock is %+v, want released with token 3", l)
		}
	})
}

// Several instances cannot be exclusive: that is said before the database is
// touched, which here does not exist.
func TestWorkersAreRefusedInModeExclusive(t *testing.T) {
	t.Parallel()
	s := shell{env: map[string]string{"NEXTRUN_DB": "postgres://nobody@127.0.0.1:1/none", "NEXTRUN_WORKERS": "4"}}
	for _, command := range []string{"scheduler", "serve"} {
		r := s.fails(t, cli.WrongUsage, []string{command, "--mode", "exclusive"}, "NEXTRUN_WORKERS is 4", "--mode leader")
		if strings.Contains(r.stderr, "127.0.0.1") {
			t.Errorf("%s touched the database:\n%s", command, r.stderr)
		}
	}
	s.fails(t, cli.WrongUsage, []string{"scheduler", "--workers", "some"}, `"some"`)
	s.fails(t, cli.Failed, []string{"scheduler", "--mode", "leader", "--workers", "4"}, "start failed at database")
	s.fails(t, cli.Failed, []string{"scheduler", "--mode", "exclusive", "--workers", "1"}, "start failed at database")
}

// A failure names the stage.
func TestStartSaysWhichStageFailed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s shell) {
		s.fails(t, cli.Failed, []string{"scheduler", "--config", "none.yaml"}, "start failed at configuration")
		s.must(t, "migrate", "up")
		first := s.start(t, "scheduler", "--mode", "exclusive", "--name", "first")
		first.waitFor("started")
		s.fails(t, cli.Failed, []string{"serve", "--mode", "exclusive"}, "start failed at lock", "nextrun lock release")
	})
}
