package job_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// Jobs that another program wrote show as they are.
func TestJobListOfForeignJobs(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, worker, started)
			VALUES ('x', 'convert', 'g', 'not JSON', '', '2026-01-01 00:00:00.000000', 'docspell', 0, 'running', 0, 40, 'joex1', '2026-01-01 00:00:01.000000')`)
		clitest.WantLines(t, s.Must(t, "job", "list"), "x - convert running [####......] 40 %")
		s.Fails(t, ui.Failed, []string{"job", "cancel", "x"}, "another kind of executor")
	})
}

func TestJobLifecycle(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		if got := s.Must(t, "job", "list"); !strings.HasPrefix(got, "none; ") {
			t.Errorf("an empty list: %q", got)
		}
		jid := s.Submit(t, "dump", "--args", `{"n": 1}`, "--priority", "10", "--subject", "by hand")
		list := s.Must(t, "job", "list")
		clitest.WantLines(t, list, "JOB TASK HANDLER STATE", jid+" - dump waiting now")
		clitest.WantLines(t, s.Must(t, "job", "show", jid), "job "+jid, "state waiting", "why It has been waiting for ", "to do start one: nextrun executor", `args {"n": 1}`, "priority 10", "subject by hand")
		if log := s.Must(t, "job", "log", jid); log != "" {
			t.Errorf("a job that has not run has a log: %q", log)
		}
		s.Fails(t, ui.Failed, []string{"job", "retry", jid}, jid, "not ended")
		clitest.WantLines(t, s.Must(t, "job", "cancel", jid), "cancelled "+jid)
		s.Fails(t, ui.Failed, []string{"job", "cancel", jid}, jid, "ended already")
		clitest.WantLines(t, s.Must(t, "job", "list", "--state", "cancelled"), jid+" - dump cancelled")
		clitest.WantLines(t, s.Must(t, "job", "retry", jid), "waiting again: "+jid)
		if log := s.Must(t, "job", "log", jid); strings.Count(log, "waits again, as asked for; attempts count from 1") != 1 {
			t.Errorf("the log does not tell of the retry: %q", log)
		}
		s.Must(t, "job", "cancel", jid)
		if got := s.Must(t, "job", "prune", "--older-than", "1h"); got != "deleted jobs: 0\n" {
			t.Errorf("prune of what is an hour old: %q", got)
		}
		if got := s.Must(t, "job", "prune", "--older-than", "0", "--state", "cancelled"); got != "deleted jobs: 1\n" {
			t.Errorf("prune of all that is cancelled: %q", got)
		}
		for _, command := range []string{"show", "cancel", "retry", "log"} {
			s.Fails(t, ui.Failed, []string{"job", command, jid}, "not found", "nextrun job list")
		}
	})
}

func TestJobListFilters(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		a := s.Submit(t, "a", "--group", "g1", "--task", "t1")
		b := s.Submit(t, "b", "--group", "g2")
		s.Must(t, "job", "cancel", b)
		tests := map[string]string{
			"":                          b + " " + a, // those submitted last first
			"--handler a":               a,
			"--group g2":                b,
			"--task t1":                 a,
			"--state waiting":           a,
			"--state waiting,cancelled": b + " " + a,
			"-n 1":                      b,
			"--task t1 -n 1":            a,
			"--handler none":            "",
		}
		for args, want := range tests {
			var jobs []struct {
				JID string
			}
			out := s.Must(t, append([]string{"job", "list", "--json"}, strings.Fields(args)...)...)
			clitest.Decode(t, out, &jobs)
			var got []string
			for _, j := range jobs {
				got = append(got, j.JID)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("job list %s: %v, want %s", args, got, want)
			}
		}
	})
}

// A list without rows says whether there is what it was asked about.
func TestListsOfNothing(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "nightly", "--handler", "dump", "--timer", "2099-01-01", "--group", "g")
		for _, list := range []string{"job list", "tick list", "event list"} {
			s.Fails(t, ui.Failed, append(strings.Fields(list), "--task", "nosuch"), `task "nosuch": not found; see: nextrun task list`)
			s.Fails(t, ui.Failed, append(strings.Fields(list), "--task", "night"), `task "night": not found; did you mean nightly?`)
			if got := s.Must(t, append(strings.Fields(list), "--task", "nightly")...); got != "none of that kind\n" {
				t.Errorf("%s: %q", list, got)
			}
			if got := s.Must(t, append(strings.Fields(list), "-n", "7")...); !strings.HasPrefix(got, "none; ") {
				t.Errorf("%s: %q", list, got)
			}
		}
		for _, list := range []string{"task list", "tick list"} {
			s.Fails(t, ui.Failed, append(strings.Fields(list), "--group", "nosuch"), `no task of the group "nosuch"; see: nextrun task list`)
		}
		for _, args := range []string{"task list --state failed --group g", "tick list --decision late", "tick list --group g"} {
			if got := s.Must(t, strings.Fields(args)...); got != "none of that kind\n" {
				t.Errorf("%s: %q", args, got)
			}
		}
	})
}

func TestJobsThatMustNotOverlap(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		jid := s.Submit(t, "a", "--task", "t", "--single")
		s.Fails(t, ui.Failed, []string{"job", "submit", "a", "--task", "t", "--single"}, jid, "must not overlap")
	})
}

func TestJobLimit(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		if got := s.Must(t, "job", "limit"); !strings.HasPrefix(got, "none; to set one: nextrun job limit group NAME NUMBER") {
			t.Errorf("without limits: %q", got)
		}
		s.Must(t, "job", "limit", "handler", "dump", "3")
		if got := s.Must(t, "job", "limit", "handler", "dump", "2"); got != "limited handler dump: 2 jobs at once\n" {
			t.Errorf("job limit: %q", got)
		}
		s.Must(t, "job", "limit", "group", "night", "1")
		clitest.WantLines(t, s.Must(t, "job", "limit"), "KIND NAME MAX RUNNING", "group night 1 0", "handler dump 2 0")
		held := s.Submit(t, "dump")
		s.Exec(t, "INSERT INTO job (task, state) VALUES ('dump', 'running'), ('dump', 'running')")
		if got := s.Must(t, "job", "show", held); !strings.Contains(got, `: the handler "dump" may run 2 jobs at once, and 2 run: job `) {
			t.Errorf("job show of a job that waits for a limit:\n%s", got)
		}
		if got := s.Must(t, "job", "limit", "handler", "dump", "0"); got != "paused handler dump: none of its jobs begins\n" {
			t.Errorf("a pause: %q", got)
		}
		clitest.WantLines(t, s.Must(t, "job", "show", held), "to do to end the pause: nextrun job limit handler dump --remove")
		if got := s.Must(t, "job", "limit", "handler", "dump", "--remove"); got != "handler dump has no limit any more\n" {
			t.Errorf("--remove: %q", got)
		}
		s.Fails(t, ui.Failed, []string{"job", "limit", "handler", "dump", "--remove"}, `handler "dump" has no limit; see: nextrun job limit`)
		var limits []map[string]any
		if s.JSON(t, &limits, "job", "limit"); len(limits) != 1 || limits[0]["max"] != 1.0 || limits[0]["kind"] != "group" {
			t.Errorf("limits %v", limits)
		}
		s.Fails(t, ui.Failed, []string{"job", "limit", "task", "nosuch", "1"}, `task "nosuch": not found`)
		s.Must(t, "task", "add", "nightly", "--handler", "dump", "--timer", "2099-01-01")
		s.Must(t, "job", "limit", "task", "nightly", "1")
		clitest.WantLines(t, s.Must(t, "job", "limit"), "task nightly 1 0")
		s.Fails(t, ui.Failed, []string{"job", "limit", "group", "g", "1000001"}, "use 0 to 1000000")
	})
}

func TestJobAt(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		jid := s.Submit(t, "a", "--at", "2099-03-04 05:06", "--retry-limit", "0", "--timeout", "1h")
		clitest.WantLines(t, s.Must(t, "job", "show", jid), "state waiting", "why It is to begin in ", "retry limit 0", "timeout 3600 s")
		if list := s.Must(t, "job", "list"); !strings.Contains(list, "waiting, in ") {
			t.Errorf("job list says\n%s", list)
		}
		var job map[string]any
		if s.JSON(t, &job, "job", "show", jid); job["retry"] != "2099-03-04T05:06:00Z" || job["retry_limit"] != 0.0 {
			t.Errorf("job %v", job)
		}
		s.Must(t, "job", "cancel", jid)
		s.Must(t, "job", "prune", "--older-than", "0s")
		s.Fails(t, ui.Failed, []string{"job", "show", jid}, "not found")
	})
}

func TestJobWrongUsage(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"job":                        "missing command",
		"job show":                   "missing argument JOB",
		"job submit":                 "missing argument HANDLER",
		"job submit a --args {":      "--args is not JSON",
		"job list --state sleeping":  "use one of waiting, scheduled, running",
		"job list -n 0":              "use 1 or more",
		"job prune":                  "--older-than 30d",
		"job prune --older-than old": "use an age such as 90m, 24h or 30d",
		"job prune --older-than 1d --state retrying": "have not ended",
		"job submit a --at soon":                     "use a time from now such as 2h",
		"job limit group":                            "missing argument NAME NUMBER",
		"job limit worker a 1":                       `"worker" cannot be limited; use group, handler or task`,
		"job limit group a many":                     `the limit is "many"; use a number, 0 for a pause, or --remove`,
		"job limit group a 1 --remove":               `unexpected argument "1"`,
		"job limit --remove":                         "missing argument KIND NAME",
		"executor --mode shared":                     "--mode",
	} {
		clitest.Shell{}.Fails(t, ui.WrongUsage, strings.Fields(args), want)
	}
}

// On SQLite other programs may write lines without a counter; showing them comes
// to an end.
func TestJobLogWithoutCounters(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": storetest.SQLiteURL(t)}}
	s.Must(t, "migrate", "up")
	jid := s.Submit(t, "dump")
	s.Exec(t, "INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', '"+jid+"', 'info', '2026-01-01 00:00:00.000000', 'by hand')")
	s.Must(t, "job", "cancel", jid)
	for _, command := range [][]string{{"job", "log", jid}, {"job", "log", "--follow", jid}} {
		if log := s.Must(t, command...); strings.Count(log, "by hand") != 1 {
			t.Errorf("%q: %q", command, log)
		}
	}
}

// What others wrote into the log reaches the terminal without commands for it, and
// no line of a message looks like a line of the log.
func TestJobLogIsSafeForTerminals(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		jid := s.Submit(t, "dump")
		s.Exec(t, "INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', '"+jid+"', 'in\x1b[31mfo', '2026-01-01 00:00:00', 'a\u009b2J\n2026-11-21 15:00:00 UTC  error  FORGED')")
		log := s.Must(t, "job", "log", jid)
		if strings.ContainsAny(log, "\x1b\u009b") || strings.Contains(log, "\n2026-11-21") || !strings.Contains(log, "FORGED") {
			t.Errorf("the log is %q", log)
		}
		var line struct{ Level, Message string }
		text := s.Must(t, "job", "log", jid, "--json")
		if clitest.Decode(t, text, &line); strings.Contains(text, "\u009b") || line.Level != "in\x1b[31mfo" || line.Message[:3] != "a\u009b" {
			t.Errorf("as JSON it is %q", text)
		}
		if r := s.Fails(t, ui.Failed, []string{"job", "cancel", "x\x1b[31m"}, "not found"); strings.Contains(r.Stderr, "\x1b") {
			t.Errorf("an argument is echoed as %q", r.Stderr)
		}
	})
}

// One job with a time that JSON cannot express keeps no other from being listed.
// SQLite refuses such times.
func TestJobListJSONOfOddTimes(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": storetest.PostgresURL(t)}}
	s.Must(t, "migrate", "up")
	s.Submit(t, "good")
	for jid, at := range map[string]string{"late": "294276-12-31 23:59:59", "infinite": "infinity", "bc": "0044-03-15 12:00:00 BC"} {
		s.Exec(t, "INSERT INTO job (jid, task, submitted, due) VALUES ('"+jid+"', 't', '"+at+"', '"+at+"')")
	}
	var jobs []struct{ JID string }
	if s.JSON(t, &jobs, "job", "list"); len(jobs) != 4 {
		t.Errorf("got %+v", jobs)
	}
}
