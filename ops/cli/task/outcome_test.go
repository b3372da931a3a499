package task_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/event"
	"github.com/nextrun/nextrun/ops/cli/job"
	"github.com/nextrun/nextrun/ops/cli/task"
	"github.com/nextrun/nextrun/ops/cli/tick"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// onTerminal returns what a command writes to a terminal of so many columns.
func onTerminal(t *testing.T, s clitest.Shell, width int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	env := &ui.Env{
		Stdout: &out, Stderr: &out, Getenv: func(name string) string {
			return map[string]string{"NEXTRUN_DB": s.Env["NEXTRUN_DB"], "NO_COLOR": "1"}[name]
		}, Now: time.Now, Zone: time.UTC,
		Terminal: func(io.Writer) int { return width },
	}
	command := map[string]func(*ui.Env) *cobra.Command{"task": task.Command, "tick": tick.Command, "job": job.Command, "event": event.Command}[args[0]](env)
	command.SetArgs(args[1:])
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

// addOutcomes adds tasks that failed, were skipped, emit events, feed another queue,
// and have not run.
func addOutcomes(t *testing.T, s clitest.Shell) {
	t.Helper()
	for _, statement := range []string{
		`INSERT INTO periodic_task (id, task, timer, sink) VALUES ('fails', 'x', 'yearly', 'job'), ('emits', 'x', 'yearly', 'event'),
			('feeds', 'y', 'yearly', 'river'), ('new', 'x', 'yearly', 'job'), ('slow', 'x', 'yearly', 'job')`,
		`UPDATE periodic_task SET nextrun = '2099-01-01 00:00:00.000000'`,
		`INSERT INTO periodic_tick (task_id, due, decision, reason, jid, decided) VALUES
			('fails', '2026-01-02 00:00:00.000000', 'submitted', NULL, 'j2', '2026-01-02 00:00:01.000000'),
			('slow', '2026-01-01 00:00:00.000000', 'submitted', NULL, 'j1', '2026-01-01 00:00:01.000000'),
			('slow', '2026-01-03 00:00:00.000000', 'skipped', 'the job of 00:00 runs', NULL, '2026-01-03 00:00:01.000000'),
			('emits', '2026-01-01 00:00:00.000000', 'submitted', NULL, 'e1', '2026-01-01 00:00:01.000000'),
			('feeds', '2026-01-01 00:00:00.000000', 'submitted', NULL, 'r1', '2026-01-01 00:00:01.000000')`,
		`INSERT INTO job (jid, task, tracker, state, started, finished, result) VALUES
			('j1', 'x', 'slow', 'running', '2026-01-01 00:00:02.000000', NULL, NULL),
			('j2', 'x', 'fails', 'failed', '2026-01-02 00:00:02.000000', '2026-01-02 00:00:03.000000', 'exit status 2')`,
		`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e1', 'd', 'x', 'emits', 1)`,
		`INSERT INTO outbox_message (event_id, topic, dead, problem) VALUES ('e1', 'd', '2026-01-01 00:00:05.000000', 'status 400')`,
	} {
		s.Exec(t, statement)
	}
}

// The list of tasks answers: did it work?
func TestTaskListShowsOutcomes(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		addOutcomes(t, s)
		list := s.Must(t, "task", "list")
		clitest.WantLines(t, list, "ID STATE LAST RUN NEXT RUN AT TIMER HANDLER ATTENTION",
			"emits failed ", "fails failed ", "feeds submitted ", "new not run yet - in ", "slow running ")
		if strings.Count(list, " ago ") != 4 {
			t.Errorf("the list does not say how long ago the runs were:\n%s", list)
		}
		s.Says(t, ui.Done, "task list --handler y", "feeds submitted")
		var tasks []struct {
			ID      string
			LastRun *struct {
				State, Result *string
				JID           string
			} `json:"last_run"`
			LastTick *struct{ Decision string } `json:"last_tick"`
		}
		s.JSON(t, &tasks, "task", "list")
		if len(tasks) != 5 || *tasks[1].LastRun.State != "failed" || *tasks[1].LastRun.Result != "exit status 2" ||
			tasks[2].LastRun.State != nil || tasks[3].LastRun != nil || tasks[4].LastTick.Decision != "skipped" || tasks[4].LastRun.JID != "j1" {
			t.Errorf("as JSON: %+v", tasks)
		}
	})
}

// What matters of a task comes first, defaults are left out, and each tick leads to
// its job or its event.
func TestTaskShowBeginsWithOutcomes(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		addOutcomes(t, s)
		for id, want := range map[string][]string{
			"fails": {"state failed", "last run failed, ", "2026-01-02 00:00:00 UTC failed job j2: exit status 2"},
			"slow":  {"state running", "2026-01-03 00:00:00 UTC skipped the job of 00:00 runs", "2026-01-01 00:00:00 UTC running job j1"},
			"emits": {"state failed", "2026-01-01 00:00:00 UTC failed e1: status 400", "sink event"},
			"feeds": {"state submitted", "2026-01-01 00:00:00 UTC submitted r1"},
			"new":   {"state not run yet"},
		} {
			show := s.Must(t, "task", "show", id)
			clitest.WantLines(t, show, append(want, "task "+id)...)
			if first := strings.Fields(strings.Split(show, "\n")[1])[0]; first != "state" {
				t.Errorf("the second line is not the state:\n%s", show)
			}
			for _, name := range []string{"overlap", "catchup", "grace", "submitter", "priority"} {
				if strings.Contains(show, "\n"+name+" ") {
					t.Errorf("the default of %s is shown:\n%s", name, show)
				}
			}
		}
		s.Says(t, ui.Done, "task show fails", "took 1.00 s")
		var one struct {
			Ticks    []struct{ State *string }
			Upcoming []string
		}
		s.JSON(t, &one, "task", "show", "slow")
		if len(one.Ticks) != 2 || one.Ticks[0].State != nil || *one.Ticks[1].State != "running" || len(one.Upcoming) != 3 {
			t.Errorf("as JSON: %+v", one)
		}
	})
}

// On 80 columns no line of the lists wraps, and the result and the times are there.
func TestListsFitATerminal(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		addOutcomes(t, s)
		s.Exec(t, `UPDATE periodic_task SET id = 'a-task-with-a-rather-long-name', timer = 'Mon..Fri *-*-* 08:30 Europe/Berlin' WHERE id = 'slow'`)
		s.Exec(t, `UPDATE periodic_tick SET task_id = 'a-task-with-a-rather-long-name' WHERE task_id = 'slow'`)
		for _, args := range [][]string{{"task", "list"}, {"task", "show", "a-task"}, {"tick", "list"}, {"job", "list"}, {"event", "list"}} {
			out := onTerminal(t, s, 80, args...)
			for line := range strings.Lines(out) {
				if runewidth.StringWidth(strings.TrimSuffix(line, "\n")) > 80 && !strings.HasPrefix(line, "(without ") && args[1] != "show" {
					t.Errorf("%v: wider than 80 columns: %q\n%s", args, line, out)
				}
			}
		}
		list := onTerminal(t, s, 80, "task", "list")
		for _, want := range []string{"STATE", "LAST RUN", "NEXT RUN", "--wide shows all"} {
			if !strings.Contains(list, want) {
				t.Errorf("on 80 columns the list lacks %q:\n%s", want, list)
			}
		}
	})
}

// The list and the page of a task say how often it has failed in a row and since when, as the dashboard does.
func TestTasksSaySinceWhenTheyFail(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('pay', 'x', 'daily', '2099-01-01 00:00:00.000000'), ('once', 'x', 'daily', '2099-01-01 00:00:00.000000')`)
		for i, state := range []string{"success", "failed", "failed", "failed"} {
			at, jid := fmt.Sprintf("2026-03-0%d 02:00:00.000000", i+1), fmt.Sprint("j", i)
			s.Exec(t, `INSERT INTO job (jid, task, tracker, state, submitted, started, finished) VALUES ('`+jid+`', 'x', 'pay', '`+state+`', '`+at+`', '`+at+`', '`+at+`')`)
			s.Exec(t, `INSERT INTO periodic_tick (task_id, due, decision, decided, jid) VALUES ('pay', '`+at+`', 'submitted', '`+at+`', '`+jid+`')`)
		}
		s.Says(t, ui.Done, "task list --zone UTC", "failed 3 times in a row, since 2026-03-02 02:00")
		s.Says(t, ui.Done, "task show pay --zone UTC", "3 times in a row, since 2026-03-02 02:00:00 UTC; the last success was that of 2026-03-01 02:00:00 UTC")
		var tasks []struct {
			ID      string
			Failing *string `json:"since"`
			Success *string `json:"last_success"`
		}
		s.JSON(t, &tasks, "task", "list")
		for _, one := range tasks {
			if failing := one.ID == "pay"; (one.Failing != nil) != failing || failing && (*one.Failing != "2026-03-02T02:00:00Z" || *one.Success != "2026-03-01T02:00:00Z") {
				t.Errorf("as JSON: %+v", one)
			}
		}
	})
}
