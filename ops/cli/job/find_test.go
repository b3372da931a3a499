package job_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// The beginning of a job's id will do, and so will the id as a narrow table shows it.
// What several begin with names them and changes none.
func TestJobIsFoundByTheBeginningOfItsID(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, jid := range []string{"01a1-aa-x", "01a1-ab-x", "01a1-bb-y", "a%_", "a_%"} {
			s.Exec(t, "INSERT INTO job (jid, task) VALUES ('"+jid+"', 'dump')")
		}
		for text, jid := range map[string]string{"01a1-b": "01a1-bb-y", "01…ab-x": "01a1-ab-x", "01a...y": "01a1-bb-y", "a%": "a%_", "ab-x": "01a1-ab-x", "1-bb": "01a1-bb-y"} {
			clitest.WantLines(t, s.Must(t, "job", "show", text), "job "+jid)
			s.Must(t, "job", "log", text)
		}
		many := []string{"several ids are like that", "\n  01a1-ab-x  dump  waiting", "\n  01a1-aa-x  dump  waiting"}
		s.Fails(t, ui.Failed, []string{"job", "show", "01a1-a"}, many...)
		s.Fails(t, ui.Failed, []string{"job", "cancel", "01a1-b", "01a1-a"}, many...)
		s.Fails(t, ui.Failed, []string{"job", "cancel", "01a1-bb-y", "a1-a"}, many...)
		clitest.WantLines(t, s.Must(t, "job", "show", "01a1-bb-y"), "state waiting")
		clitest.WantLines(t, s.Must(t, "job", "cancel", "01a1-b"), "cancelled 01a1-bb-y")
		clitest.WantLines(t, s.Must(t, "job", "retry", "01a1-b"), "waiting again: 01a1-bb-y")
		s.Fails(t, ui.Failed, []string{"job", "show", "1a1"}, "not found", "nextrun job list")
		s.Fails(t, ui.Failed, []string{"job", "show", ""}, "not found")
	})
}

// With --last, job show and job log take a task.
func TestJobOfATask(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, "INSERT INTO periodic_task (id, task, timer, sink) VALUES ('nightly', 'dump', 'yearly', 'job'), ('idle', 'dump', 'yearly', 'job'), ('emits', 'dump', 'yearly', 'event')")
		s.Exec(t, "INSERT INTO job (jid, task, tracker, submitted) VALUES ('j1', 'dump', 'nightly', '2026-01-01 00:00:00.000000'), ('j2', 'dump', 'nightly', '2026-01-02 00:00:00.000000')")
		s.Exec(t, "INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', 'j2', 'error', '2026-01-02 00:00:00.000000', 'no space left')")
		clitest.WantLines(t, s.Must(t, "job", "show", "--last", "night"), "job j2", "handler dump", "task nightly")
		clitest.WantLines(t, s.Must(t, "job", "log", "nightly", "--last"), "2026-01-02 00:00:00 UTC error no space left")
		s.Fails(t, ui.Failed, []string{"job", "show", "--last", "idle"}, "has no job", "nextrun why idle")
		s.Fails(t, ui.Failed, []string{"job", "log", "--last", "emits"}, "nextrun event list --task emits")
		s.Fails(t, ui.Failed, []string{"job", "log", "--last", "nope"}, "not found", "nextrun task list")
	})
}

// What JSON tells of a job in a list and by itself is the same, and nothing is left out.
func TestJobJSONIsTheSameInListAndShow(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		jid := s.Submit(t, "dump", "--args", `{"n": 1}`)
		var list []map[string]any
		var one map[string]any
		s.JSON(t, &list, "job", "list")
		s.JSON(t, &one, "job", "show", jid)
		findings, _ := one["findings"].([]any)
		delete(one, "findings") // which only one job has
		if len(findings) != 1 || findings[0].(map[string]any)["code"] != "job_no_executor" {
			t.Errorf("its findings are %v, want that no executor runs", findings)
		}
		if len(list) != 1 || len(list[0]) != len(one) || list[0]["args"] != `{"n": 1}` || one["args"] != `{"n": 1}` {
			t.Errorf("in the list %v\nby itself %v", list, one)
		}
		for _, name := range []string{"task", "worker", "cancel", "retry", "result", "retry_limit"} {
			if value, there := one[name]; !there || value != nil {
				t.Errorf("%s is %v (there: %v), want null", name, value, there)
			}
		}
	})
}
