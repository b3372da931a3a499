package why_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// in stands for a time some way from the moment in which a statement runs.
func in(d time.Duration) string { return "{" + d.String() + "}" }

var relative = regexp.MustCompile(`\{[^{}]*\}`)

// timed is a statement with its times as SQL has them.
func timed(statement string) string {
	return relative.ReplaceAllStringFunc(statement, func(text string) string {
		d, err := time.ParseDuration(strings.Trim(text, "{}"))
		if err != nil {
			return text
		}
		return "'" + time.Now().UTC().Add(d).Format("2006-01-02 15:04:05.000000") + "'"
	})
}

// sets the plan of the task t, as a scheduler does.
func plan(next time.Duration) string {
	return fmt.Sprintf("UPDATE periodic_task SET due = %s, nextrun = %s WHERE id = 't'", in(next), in(next))
}

// jobs adds a job of the task.
func aJob(jid, state, more, values string) string {
	if more != "" {
		more, values = ", "+more, ", "+values
	}
	return fmt.Sprintf("INSERT INTO job (jid, task, tracker, single, state%s) VALUES ('%s', 'backup', 't', true, '%s'%s)", more, jid, state, values)
}

// aTick adds a tick of the task.
// lives has the worker of jobs say at a time that it lives.
func lives(at time.Duration) string {
	return "INSERT INTO worker (id, kind, version, started, seen) VALUES ('w@000000000001', 'executor', 'v', " + in(at) + ", " + in(at) + ")"
}

func aTick(decision, reason string) string {
	return fmt.Sprintf("INSERT INTO periodic_tick (task_id, due, decision, reason, decided) VALUES ('t', %s, '%s', '%s', %s)",
		in(-time.Minute), decision, reason, in(-time.Minute))
}

// aHook adds the job of a hook of a task, some minutes old.
func aHook(task, state, result string) string {
	return fmt.Sprintf(`INSERT INTO job (jid, task, group_, args, state, retry, submitted, result)
		VALUES ('h', 'nextrun.hook', 'nextrun.hooks', '{"hook": "on_success", "task": "%s"}', '%s', %s, %s, '%s')`, task, state,
		map[bool]string{true: in(time.Minute), false: "NULL"}[state == "stuck"], in(-5*time.Minute), result)
}

// Each situation is explained, and the remedy named.
func TestWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql   []string
		state string
		want  []string
	}{
		"all is well": {[]string{plan(time.Hour), aJob("j", "success", "started, finished", in(-2*time.Second)+", "+in(-time.Second))}, "ok",
			[]string{"last run success, ", " ago, took 1.0"}},
		"a hook that was given up": {[]string{plan(time.Hour), aJob("j", "success", "started, finished", in(-2*time.Second)+", "+in(-time.Second)),
			aHook("t", "failed", "ops.example.org answered 410 Gone")}, "ok",
			[]string{"- Its hook on_success was given up: ops.example.org answered 410 Gone.", "> to deliver it again: nextrun job retry h"}},
		"a hook that is late": {[]string{plan(time.Hour), aHook("t", "stuck", "connection refused")}, "not run yet",
			[]string{"- Its hook on_success is not delivered, and is tried again: connection refused.", "> more about it: nextrun job show h"}},
		"a hook without an executor": {[]string{plan(time.Hour), aHook("t", "waiting", "")}, "not run yet",
			[]string{"- Its hook on_success waits for an executor that has hooks.", "> is a process running whose configuration has this hook?"}},
		"the hook of another task": {[]string{plan(time.Hour), aHook("tt", "waiting", "")}, "not run yet", nil},
		"not run yet":              {[]string{plan(time.Hour)}, "not run yet", []string{"last run never", "next run "}},
		"disabled":                 {[]string{"UPDATE periodic_task SET enabled = false"}, "disabled", []string{"- It is disabled.", "> nextrun task enable t"}},
		"a problem": {[]string{"UPDATE periodic_task SET problem = 'timer ''x'' cannot be read', nextrun = '9999-12-31 23:59:59.000000', due = '9999-12-31 23:59:59.000000'"},
			"blocked", []string{"- Its row has a problem: timer 'x' cannot be read.", "> to fix it: nextrun task set t"}},
		"an error that need not be the row's": {[]string{plan(-time.Hour), "UPDATE periodic_task SET problem = 'the task cannot be scheduled: table legacy has no column rank'"},
			"blocked", []string{"- The task cannot be scheduled: table legacy has no column rank.", "> if its row is to blame: nextrun task set t"}},
		"a queue that cannot be used": {[]string{plan(-time.Hour), "UPDATE periodic_task SET problem = 'the ticks wait: the queue cannot be used: table river_job has no column tags'"},
			"blocked", []string{`- Its ticks wait for the queue "job": the queue cannot be used: table river_job has no column tags.`, "> mend that; its ticks are submitted then"}},
		"a warning": {[]string{"UPDATE periodic_task SET args = 'no JSON'", plan(time.Hour)}, "not run yet", []string{"- Its row has a warning: args is not JSON"}},
		"never elapses": {[]string{"UPDATE periodic_task SET timer = '2020-01-01'", "UPDATE periodic_task SET due = '9999-12-31 23:59:59.000000', nextrun = '9999-12-31 23:59:59.000000'"},
			"never elapses", []string{`- Its timer "2020-01-01" never elapses from now on.`, "next run never"}},
		"starts later": {[]string{"UPDATE periodic_task SET starts = '2199-01-01 00:00:00.000000'", plan(time.Hour)}, "waiting",
			[]string{"- It starts at 2199-01-01 00:00:00 UTC", "> to start it now: nextrun task set t --starts none"}},
		"paused": {[]string{plan(time.Hour), "UPDATE periodic_task SET paused = '2026-01-01 00:00:00', paused_until = '2199-01-01 00:00:00', paused_by = 'ada', paused_reason = 'moving'"}, "paused",
			[]string{"- It has been paused by ada since 2026-01-01 00:00:00 UTC until 2199-01-01 00:00:00 UTC: moving. What falls due meanwhile is skipped.", "next run paused until 2199-01-01 00:00:00", "> to end the pause: nextrun task resume t"}},
		"a pause that is over": {[]string{plan(time.Hour), "UPDATE periodic_task SET paused = '2026-01-01 00:00:00', paused_until = '2026-01-02 00:00:00'"}, "not run yet", nil},
		"ended": {[]string{"UPDATE periodic_task SET ends = '2020-01-01 00:00:00.000000'", "UPDATE periodic_task SET due = '9999-12-31 23:59:59.000000', nextrun = '9999-12-31 23:59:59.000000'"},
			"ended", []string{"- It ended at 2020-01-01 00:00:00 UTC"}},
		"no scheduler plans": {[]string{"UPDATE periodic_task SET created = '2026-01-01 00:00:00.000000'", "UPDATE periodic_task SET since = '2026-01-01 00:00:00.000000'"}, "waiting",
			[]string{"- No scheduler has planned it", "> is one running on this database?"}},
		"no scheduler submits": {[]string{"UPDATE periodic_task SET created = '2026-01-01 00:00:00.000000'", plan(-time.Hour),
			"INSERT INTO scheduler_lock VALUES ('nextrun', 'h.1', 'host', 1, 7, '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000', '2026-01-01 00:01:00.000000')"},
			"waiting", []string{"- It has been due for 1 h", `The lock "nextrun" belongs to h.1 on host, whose heartbeat stopped`}},
		"marked": {[]string{plan(-time.Second), "UPDATE periodic_task SET worker = 'h.1.1', marked = " + in(0)}, "not run yet",
			[]string{"- The scheduler h.1.1 took it "}},
		"marked before its time": {[]string{plan(time.Hour), "UPDATE periodic_task SET worker = 'h.1.1', marked = " + in(0)}, "not run yet",
			[]string{"- The scheduler h.1.1 has its next tick ready"}},
		"marked by a dead scheduler": {[]string{plan(-time.Minute), "UPDATE periodic_task SET worker = 'h.1.1', marked = " + in(-time.Hour)}, "not run yet",
			[]string{"- The scheduler h.1.1 marked it 1 h", "has not come back"}},
		"jitter": {[]string{"UPDATE periodic_task SET jitter = 600", fmt.Sprintf("UPDATE periodic_task SET due = %s, nextrun = %s", in(time.Minute), in(3*time.Minute))},
			"not run yet", []string{"- Its jitter delays the tick of "}},
		"skipped": {[]string{plan(time.Hour), aJob("j", "running", "worker, started", "'w@000000000001', "+in(-3*time.Hour)), lives(0), aTick("skipped", "the job of 01:00:00 has been running for 3 h (job j)")},
			"running", []string{"- Its job has been running for 3 h", "on w@000000000001.", "was skipped: the job of 01:00:00", "> to run it afterwards instead: nextrun task set t --overlap queue"}},
		"waits": {[]string{plan(-time.Minute), "UPDATE periodic_task SET overlap = 'queue'", plan(-time.Minute), aJob("j", "running", "worker, started", "'w@000000000001', "+in(-time.Minute)), lives(0)},
			"running", []string{" waits: a job of the task has not ended after 1 min (job j)", "> to follow it: nextrun job log --follow j"}},
		"worker is silent": {[]string{plan(time.Hour), aJob("j", "running", "worker, started", "'w@000000000001', "+in(-time.Hour)), lives(-time.Hour)},
			"running", []string{"- Its job runs on w@000000000001, which last gave a sign of life 1 h"}},
		"no executor": {[]string{plan(time.Hour), aJob("j", "waiting", "submitted", in(-time.Hour))}, "waiting",
			[]string{`- Its job has been waiting for 1 h`, `no executor runs, as far as the database shows.`, "> start one: nextrun executor"}},
		"group is paused": {[]string{plan(time.Hour), aJob("j", "waiting", "submitted", in(-time.Hour)), "INSERT INTO job_limit VALUES ('group', 'default', 0)"},
			"waiting", []string{`- Its job has been waiting for 1 h`, `the group "default" is paused`, "> to end the pause: nextrun job limit group default --remove"}},
		"retried": {[]string{plan(time.Hour), aJob("j", "stuck", "worker, retries, retry, started, result", "'w', 1, "+in(time.Minute)+", "+in(-time.Second)+", 'exit status 2'")},
			"retrying", []string{"- Its job failed, and attempt 2 is due in ", "Now no executor runs", "- An attempt of its present run failed: exit status 2."}},
		"failed": {[]string{plan(time.Hour), aJob("j", "failed", "started, finished, result", in(-2*time.Minute)+", "+in(-time.Minute)+", 'ls: exit status 2'"),
			"INSERT INTO joblog (id, jid, level, created, message, counter) VALUES ('l', 'j', 'error', " + in(0) + ", 'ls: no such file', 1)"},
			"failed", []string{"- Its last run failed 1 min", ": ls: exit status 2.", "ls: no such file", "nextrun job retry j", "nextrun job log j"}},
		"failed once, then succeeded": {[]string{plan(time.Hour), aJob("i", "failed", "submitted, finished, result", in(-time.Hour)+", "+in(-time.Hour)+", 'no'"),
			aJob("j", "success", "started, finished", in(-2*time.Second)+", "+in(-time.Second))}, "ok", []string{"last run success"}},
		"missed": {[]string{plan(time.Hour), aTick("missed", "no scheduler ran in time; one catch-up run replaces it")}, "waiting",
			[]string{"- The tick of ", " was missed: no scheduler ran in time", "> to run what was missed now: nextrun task backfill t --from 2", "Z --to 2"}},
		"late": {[]string{plan(time.Hour), aTick("late", "decided 3 s after its time; the deadline is 1 s")}, "waiting", []string{"was too late: decided 3 s after", "--deadline SECONDS"}},
		"queue is not known": {[]string{"UPDATE periodic_task SET sink = 'river'", plan(time.Hour)}, "waiting",
			[]string{`- Its jobs go to the queue "river", which this program does not know.`, "--config"}},
		"event is dead": {[]string{"UPDATE periodic_task SET sink = 'event'", plan(time.Hour), aTick("submitted", ""), "UPDATE periodic_tick SET jid = 'e'",
			"INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e', 'default', 'backup', 't', 1)",
			"INSERT INTO outbox_message (event_id, topic, dead, problem) VALUES ('e', 'default', " + in(0) + ", 'status 400')"},
			"waiting", []string{"- Its last event was refused too often and set aside: status 400.", "> nextrun event resend e"}},
		"event waits": {[]string{"UPDATE periodic_task SET sink = 'event'", plan(time.Hour), aTick("submitted", ""), "UPDATE periodic_tick SET jid = 'e'",
			"INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, created) VALUES ('e', 'default', 'backup', 't', 1, " + in(-time.Hour) + ")",
			"INSERT INTO outbox_message (event_id, topic, created) VALUES ('e', 'default', " + in(-time.Hour) + ")"},
			"waiting", []string{"- Its last event has been waiting for a relay for 1 h"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
				s.Exec(t, "INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'backup', 'yearly')")
				for _, statement := range c.sql {
					s.Exec(t, timed(statement))
				}
				got := s.Must(t, "why", "t")
				words := strings.Join(strings.Fields(got), " ")
				for _, want := range append(c.want, "state "+c.state) {
					if !strings.Contains(words, want) {
						t.Errorf("lacks %q:\n%s", want, got)
					}
				}
				var report struct {
					State    string
					Findings []struct{ Code, Finding, Do string }
				}
				s.JSON(t, &report, "why", "t")
				if report.State != c.state || report.Findings == nil {
					t.Errorf("as JSON: %+v", report)
				}
				for _, f := range report.Findings {
					if f.Code == "" {
						t.Errorf("this finding has no code: %q", f.Finding)
					}
				}
			})
		})
	}
}

// The beginning of an id will do; what fits no task gets a suggestion.
func TestWhyFindsTheTask(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, id := range []string{"nightly-backup", "nightly-report", "weekly"} {
			s.Exec(t, "INSERT INTO periodic_task (id, task, timer) VALUES ('"+id+"', 'x', 'yearly')")
		}
		if got := s.Must(t, "why", "week"); !strings.Contains(got, "weekly") {
			t.Errorf("by the beginning of the id:\n%s", got)
		}
		s.Fails(t, ui.Failed, []string{"why", "nightly"}, "several ids begin so: nightly-backup or nightly-report")
		s.Fails(t, ui.Failed, []string{"why", "backup"}, "did you mean nightly-backup?")
		for _, slip := range []string{"nightly-bakup", "nightly-backkup", "nightly-bsckup", "ngihtly-backup"} {
			s.Fails(t, ui.Failed, []string{"why", slip}, "did you mean nightly-backup?")
		}
		s.Fails(t, ui.Failed, []string{"why", "nope"}, "not found", "nextrun task list")
	})
}
