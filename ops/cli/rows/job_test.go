package rows_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

func TestJobLifecycle(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Done, "job list", "none; ")
		jid := s.Submit(t, "dump", "--args", `{"n": 1}`, "--priority", "10", "--subject", "by hand")
		s.Says(t, ui.Done, "job list", "JOB TASK HANDLER STATE", jid+" - dump waiting ")
		s.Says(t, ui.Done, "job show "+jid, "job "+jid, "state waiting", "why It has been waiting for ", "to do start one: nextrun executor", `args {"n": 1}`, "priority 10", "subject by hand")
		s.Says(t, ui.Done, "job log "+jid, "job "+jid+" has no log")
		s.Says(t, ui.Failed, "job retry "+jid, "not ended")
		s.Says(t, ui.Done, "job cancel "+jid, "cancelled "+jid)
		s.Says(t, ui.Failed, "job cancel "+jid, "ended already")
		s.Says(t, ui.Done, "job list --state cancelled", jid+" - dump cancelled")
		s.Says(t, ui.Done, "job retry "+jid, "waiting again: "+jid)
		if log := s.Must(t, "job", "log", jid); !strings.Contains(log, "attempts count from 1; it had ended: cancelled, at 20") || !strings.Contains(log, "UTC: cancelled before it ran") {
			t.Errorf("the log does not tell of the retry: %q", log)
		}
		s.Must(t, "job", "cancel", jid)
		s.Says(t, ui.Done, "job prune --older-than 1h", "deleted jobs: 0")
		s.Says(t, ui.Done, "job prune --older-than 0 --state cancelled", "deleted jobs: 1")
		for _, command := range []string{"show", "cancel", "retry", "log"} {
			s.Says(t, ui.Failed, "job "+command+" "+jid, "not found", "nextrun job list")
		}
	})
}

// What JSON tells of a job in a list and by itself is the same, and nothing is left out.
func TestJobJSONIsTheSameInListAndShow(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		jid := s.Submit(t, "dump", "--args", `{"n": 1}`, "--at", "2099-03-04 05:06", "--retry-limit", "0", "--timeout", "1h")
		var list []map[string]any
		var one map[string]any
		s.JSON(t, &list, "job", "list")
		s.JSON(t, &one, "job", "show", jid)
		delete(one, "findings") // which only one job has
		if len(list) != 1 || len(list[0]) != len(one) {
			t.Errorf("in the list %v\nby itself %v", list, one)
		}
		for name, want := range map[string]any{"args": `{"n": 1}`, "retry": "2099-03-04T05:06:00Z", "retry_limit": 0.0, "timeout": 3600.0, "task": nil, "worker": nil, "cancel": nil, "result": nil} {
			if value, there := one[name]; !there || value != want || list[0][name] != want {
				t.Errorf("%s is %v (there: %v), want %v", name, value, there, want)
			}
		}
	})
}

// A list without rows says whether there is what it was asked about.
func TestListsOfNothing(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "nightly", "--handler", "dump", "--timer", "2099-01-01", "--group", "g")
		for _, list := range []string{"job list", "tick list", "event list"} {
			s.Says(t, ui.Failed, list+" --task nosuch", `task "nosuch": not found; see: nextrun task list`)
			s.Says(t, ui.Done, list+" --task night", "none of that kind")
			s.Says(t, ui.Done, list+" --task nightly", "none of that kind")
			s.Says(t, ui.Done, list+" -n 7", "none; ")
		}
		s.Must(t, "task", "run", "nightly")
		for _, list := range []string{"job list", "tick list"} {
			s.Says(t, ui.Done, list+" --task night", "nightly")
		}
		for _, list := range []string{"task list", "tick list"} {
			s.Says(t, ui.Failed, list+" --group nosuch", `no task of the group "nosuch"; see: nextrun task list`)
		}
		for _, list := range []string{"task list --state failed --group g", "tick list --decision late", "tick list --group g --since tomorrow"} {
			s.Says(t, ui.Done, list, "none of that kind")
		}
	})
}

func TestJobLimit(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Done, "job limit", "none; to set one: nextrun job limit group NAME NUMBER")
		s.Must(t, "job", "limit", "handler", "dump", "3")
		s.Says(t, ui.Done, "job limit handler dump 2", "limited handler dump: 2 jobs at once")
		s.Must(t, "job", "limit", "group", "night", "1")
		s.Says(t, ui.Done, "job limit", "KIND NAME MAX RUNNING", "group night 1 0", "handler dump 2 0")
		s.Says(t, ui.Done, "job limit handler dump 0", "paused handler dump: none of its jobs begins")
		s.Says(t, ui.Done, "job show "+s.Submit(t, "dump"), "to do to end the pause: nextrun job limit handler dump none")
		s.Says(t, ui.Done, "job limit handler dump none", "handler dump has no limit any more")
		s.Says(t, ui.Failed, "job limit handler dump none", `handler "dump" has no limit; see: nextrun job limit`)
		var limits []map[string]any
		if s.JSON(t, &limits, "job", "limit"); len(limits) != 1 || limits[0]["max"] != 1.0 || limits[0]["kind"] != "group" {
			t.Errorf("limits %v", limits)
		}
		s.Says(t, ui.Failed, "job limit task nosuch 1", `task "nosuch": not found`)
		s.Says(t, ui.Failed, "job limit group g 1000001", "use 0 to 1000000")
	})
}

// Jobs that another program wrote show as they are. What it wrote into the log reaches the terminal without commands for it, and
// no line of a message looks like a line of the log.
func TestJobsOfOthersAreSafeForTerminals(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, worker, started)
			VALUES ('x', 'convert', 'g', 'not JSON', '', '2026-01-01 00:00:00.000000', 'docspell', 0, 'running', 0, 40, 'joex1', '2026-01-01 00:00:01.000000')`)
		s.Says(t, ui.Done, "job list", "x - convert running 40 %")
		s.Says(t, ui.Failed, "job cancel x", "another kind of executor")
		s.Exec(t, "INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', 'x', 'in\x1b[31mfo', '2026-01-01 00:00:00', 'a\u009b2J\n2026-11-21 15:00:00 UTC  error  FORGED')")
		log := s.Must(t, "job", "log", "x")
		if strings.ContainsAny(log, "\x1b\u009b") || strings.Contains(log, "\n2026-11-21") || !strings.Contains(log, "FORGED") {
			t.Errorf("the log is %q", log)
		}
		var line struct{ Level, Message string }
		text := s.Must(t, "job", "log", "x", "--json")
		if clitest.Decode(t, text, &line); strings.Contains(text, "\u009b") || line.Level != "in\x1b[31mfo" || line.Message[:3] != "a\u009b" {
			t.Errorf("as JSON it is %q", text)
		}
		s.Says(t, ui.Failed, "job cancel y\x1b[31m", "not found", "! \x1b")
	})
}

// On SQLite other programs may write lines without a counter; showing them comes to an end.
func TestJobLogWithoutCounters(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": storetest.SQLiteURL(t)}}
	s.Must(t, "migrate", "up")
	jid := s.Submit(t, "dump")
	s.Exec(t, "INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', '"+jid+"', 'info', '2026-01-01 00:00:00.000000', 'by hand')")
	s.Must(t, "job", "cancel", jid)
	for _, command := range []string{"job log " + jid, "job log --follow " + jid} {
		if r := s.Says(t, ui.Done, command); strings.Count(r.Stdout, "by hand") != 1 {
			t.Errorf("%q: %q", command, r.Stdout)
		}
	}
}
