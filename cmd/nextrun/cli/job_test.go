package cli_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli"
	"github.com/nextrun/nextrun/store/storetest"
)

// submit submits a job by hand and returns its id.
func (s shell) submit(t *testing.T, args ...string) string {
	t.Helper()
	out := s.must(t, append([]string{"job", "submit"}, args...)...)
	jid, ok := strings.CutPrefix(strings.TrimSpace(out), "submitted ")
	if !ok {
		t.Fatalf("job submit says %q", out)
	}
	return jid
}

func TestJobLifecycle(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		if got := s.must(t, "job", "list"); got != "none\n" {
			t.Errorf("an empty list: %q", got)
		}
		jid := s.submit(t, "dump", "--args", `{"n": 1}`, "--priority", "10", "--subject", "by hand")
		list := s.must(t, "job", "list")
		wantLines(t, list, "JOB TASK TRACKER STATE", jid+" dump - waiting now")
		wantLines(t, s.must(t, "job", "show", jid), "job "+jid, "state waiting", "waits for a free executor that has a handler dump", `args {"n": 1}`, "priority 10", "subject by hand")
		if log := s.must(t, "job", "log", jid); log != "" {
			t.Errorf("a job that has not run has a log: %q", log)
		}
		s.fails(t, cli.Failed, []string{"job", "retry", jid}, jid, "not ended")
		wantLines(t, s.must(t, "job", "cancel", jid), "cancelled "+jid)
		s.fails(t, cli.Failed, []string{"job", "cancel", jid}, jid, "ended already")
		wantLines(t, s.must(t, "job", "list", "--state", "cancelled"), jid+" dump - cancelled")
		wantLines(t, s.must(t, "job", "retry", jid), "waiting again: "+jid)
		if log := s.must(t, "job", "log", jid); strings.Count(log, "waits again, as asked for; attempts count from 1") != 1 {
			t.Errorf("the log does not tell of the retry: %q", log)
		}
		s.must(t, "job", "cancel", jid)
		if got := s.must(t, "job", "prune", "--older-than", "1h"); got != "deleted jobs: 0\n" {
			t.Errorf("prune of what is an hour old: %q", got)
		}
		if got := s.must(t, "job", "prune", "--older-than", "0", "--state", "cancelled"); got != "deleted jobs: 1\n" {
			t.Errorf("prune of all that is cancelled: %q", got)
		}
		for _, command := range []string{"show", "cancel", "retry", "log"} {
			s.fails(t, cli.Failed, []string{"job", command, jid}, "not found", "nextrun job list")
		}
	})
}

func TestJobListFilters(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		a := s.submit(t, "a", "--group", "g1", "--tracker", "t1")
		b := s.submit(t, "b", "--group", "g2")
		s.must(t, "job", "cancel", b)
		tests := map[string]string{
			"":                          b + " " + a, // those submitted last first
			"--task a":                  a,
			"--group g2":                b,
			"--tracker t1":              a,
			"--state waiting":           a,
			"--state waiting,cancelled": b + " " + a,
			"-n 1":                      b,
			"--task none":               "",
		}
		for args, want := range tests {
			var jobs []struct {
				JID string
			}
			out := s.must(t, append([]string{"job", "list", "--json"}, strings.Fields(args)...)...)
			decode(t, out, &jobs)
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

func TestJobsThatMustNotOverlap(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		jid := s.submit(t, "a", "--tracker", "t", "--single")
		s.fails(t, cli.Failed, []string{"job", "submit", "a", "--tracker", "t", "--single"}, jid, "must not overlap")
	})
}

func TestJobPause(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		s.must(t, "job", "pause", "--task", "dump")
		s.must(t, "job", "pause", "--group", "night")
		wantLines(t, s.must(t, "job", "pauses"), "task dump 20", "group night 20")
		s.must(t, "job", "resume", "--task", "dump")
		s.fails(t, cli.Failed, []string{"job", "resume", "--task", "dump"}, "was not paused")
		if text := s.must(t, "job", "pauses"); strings.Contains(text, "dump") {
			t.Errorf("after resume:\n%s", text)
		}
	})
}

func TestJobWrongUsage(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"job":                        "missing command",
		"job show":                   "missing argument JOB",
		"job submit":                 "missing argument TASK",
		"job submit a --args {":      "--args is not JSON",
		"job list --state sleeping":  "use one of waiting, scheduled, running",
		"job list -n 0":              "use 1 or more",
		"job prune":                  "--older-than 30d",
		"job prune --older-than old": "use an age such as 90m, 24h or 30d",
		"job prune --older-than 1d --state stuck": "have not ended",
		"job pause":                    "either a --task or a --group",
		"job pause --task a --group b": "either a --task or a --group",
		"executor --mode shared":       "--mode",
	} {
		shell{}.fails(t, cli.WrongUsage, strings.Fields(args), want)
	}
}

// Jobs that another program wrote show as they are.
func TestJobListOfForeignJobs(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		s.exec(t, `INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, worker, started)
			VALUES ('x', 'convert', 'g', 'not JSON', '', '2026-01-01 00:00:00.000000', 'docspell', 0, 'running', 0, 40, 'joex1', '2026-01-01 00:00:01.000000')`)
		wantLines(t, s.must(t, "job", "list"), "x convert - running [####......] 40 %")
		s.fails(t, cli.Failed, []string{"job", "cancel", "x"}, "another kind of executor")
	})
}

func TestExecutorNeedsHandlers(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		s.fails(t, cli.Failed, []string{"executor"}, "no handlers are configured", "--config FILE")
		b := s.start(t, "serve")
		b.waitFor("WARN", "no handlers are configured")
		b.waitFor("started")
	})
}

func TestServeRunsCommands(t *testing.T) {
	t.Parallel()
	config := writeFile(t, "nextrun.yaml", `
handlers:
  greet: {command: [sh, -c, 'echo "hello $NEXTRUN_TASK"; echo progress >&2']}
  fail:  {command: [sh, -c, 'echo broken; exit 3']}
executor: {retry_limit: 0}
`)
	onBothMigrated(t, func(t *testing.T, s shell) {
		b := s.start(t, "serve", "--config", config)
		b.waitFor("started", "name=test")
		s.must(t, "task", "add", "hi", "--task", "greet", "--timer", "2099-01-01")
		wantLines(t, s.must(t, "task", "run", "hi"), "to run now: hi", "hi: job ")
		s.must(t, "task", "add", "tell", "--task", "told", "--timer", "yearly", "--sink", "event")
		wantLines(t, s.must(t, "task", "run", "tell"), "tell: event ")
		b.waitFor("job submitted", "id=hi")
		b.waitFor("INFO", "job ended", "task=greet", "state=success")
		jid := s.submit(t, "fail")
		b.waitFor("WARN", "job ended", "task=fail", "state=failed")
		wantLines(t, s.must(t, "job", "show", jid), "state failed", "result ")
		if log := s.must(t, "job", "log", jid, "--follow"); !strings.Contains(log, "broken") {
			t.Errorf("the log lacks the output of the command:\n%s", log)
		}
		b.stop()
		b.waitFor("stopped")
		if exit := <-b.exit; exit != cli.Done {
			t.Errorf("exit code %d", exit)
		}
	})
}

func TestJobListWatch(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		s.submit(t, "first")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		read, write := io.Pipe()
		exit := make(chan int, 1)
		go func() {
			lookup := func(name string) string { return s.env[name] }
			exit <- cli.Run(ctx, []string{"job", "list", "--watch"}, strings.NewReader(""), write, io.Discard, lookup)
			_ = write.Close() // ends the reader
		}()
		lines, submitted, seen := bufio.NewScanner(read), false, false
		for !seen && lines.Scan() {
			if strings.Contains(lines.Text(), " first ") && !submitted {
				s.submit(t, "second")
				submitted = true
			}
			seen = strings.Contains(lines.Text(), " second ")
		}
		cancel()
		for lines.Scan() { // until the program has ended
			continue
		}
		if got := <-exit; got != cli.Done || !seen {
			t.Errorf("exit code %d, new job seen: %v", got, seen)
		}
	})
}

// On SQLite other programs may write lines without a counter; showing them comes
// to an end.
func TestJobLogWithoutCounters(t *testing.T) {
	t.Parallel()
	s := shell{env: map[string]string{"NEXTRUN_DB": storetest.SQLiteURL(t)}}
	s.must(t, "migrate", "up")
	jid := s.submit(t, "dump")
	s.exec(t, "INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', '"+jid+"', 'info', '2026-01-01 00:00:00.000000', 'by hand')")
	s.must(t, "job", "cancel", jid)
	for _, command := range [][]string{{"job", "log", jid}, {"job", "log", "--follow", jid}} {
		if log := s.must(t, command...); strings.Count(log, "by hand") != 1 {
			t.Errorf("%q: %q", command, log)
		}
	}
}
