package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// Events that wait for a relay or were refused are named by their topic, hooks that were not delivered together, and
// events that have just been written are not.
func TestCheckEvents(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, e := range []struct{ topic, rest string }{
			{"orders", "NULL"}, {"refused", "'no answer'"}, {"new", "NULL"},
		} {
			s.Exec(t, `INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('`+e.topic+`', '`+e.topic+`', 'x', '`+e.topic+`', 1)`)
			s.Exec(t, `INSERT INTO outbox_message (event_id, topic, problem) VALUES ('`+e.topic+`', '`+e.topic+`', `+e.rest+`)`)
		}
		s.Exec(t, `UPDATE outbox_message SET created = '2026-01-01 00:00:00.000000' WHERE topic <> 'new'`)
		s.Exec(t, `INSERT INTO job (jid, task, group_, subject, state, result) VALUES ('h', 'nextrun.hook', 'nextrun.hooks', 'failure of a', 'failed', 'answered 404')`)
		out := strings.Join(strings.Fields(s.Run(t.Context(), "check").Stdout), " ")
		for _, want := range []string{"topic orders events that wait: 1, the oldest for ", "was refused: no answer; see: nextrun event list --topic refused",
			"hooks hooks that were not delivered: 1; the newest: failure of a: answered 404; see: nextrun job list --group nextrun.hooks --state failed,retrying"} {
			if !strings.Contains(out, want) {
				t.Errorf("check does not say %q: %s", want, out)
			}
		}
		if strings.Contains(out, "topic new") {
			t.Errorf("check names a topic whose event has just been written: %s", out)
		}
	})
}

// Tasks that no scheduler takes are no "no problems found".
func TestCheckNamesOverdueTasks(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "a", "--handler", "h", "--timer", "yearly")
		s.Must(t, "scheduler", "--once")
		says := func(want string, is bool) {
			t.Helper()
			if out := strings.Join(strings.Fields(s.Must(t, "check")), " "); strings.Contains(out, want) != is {
				t.Errorf("check says %q: %t: %s", want, !is, out)
			}
		}
		says("wait for a scheduler", false)
		s.Exec(t, "UPDATE periodic_task SET due = '2026-01-01 00:00:00.000000', nextrun = '2026-01-01 00:00:00.000000', created = '2025-12-01 00:00:00.000000' WHERE id = 'a'")
		s.Exec(t, "UPDATE periodic_task SET since = '2025-12-01 00:00:00.000000' WHERE id = 'a'")
		says("warning schedulers tasks that wait for a scheduler: 1, the longest for ", true)
		says("none runs, as far as the database shows. To start one: nextrun serve", true)
	})
}

// A job whose handler no executor has is named by check and by status, also one that belongs to no task.
func TestJobsWithoutAHandlerAreNamed(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {backup: {command: [echo]}}\n")
		s.Start(t, "serve", "--config", config).WaitFor("started", "name=test")
		first := s.Submit(t, "bakcup")
		s.Submit(t, "bakcup")
		report := s.Must(t, "check", "--config", config)
		if strings.Count(report, `no executor that runs has a handler "bakcup"`) != 1 {
			t.Errorf("check says of job %s and the next one:\n%s", first, report)
		}
		s.Fails(t, ui.Changes, []string{"status"})
		if out := s.Run(t.Context(), "status").Stdout; !strings.Contains(out, `no executor that runs has a handler "bakcup"`) {
			t.Errorf("status says\n%s", out)
		}
	})
}
