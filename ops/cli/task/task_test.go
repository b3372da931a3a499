package task_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestTaskLifecycle(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Done, "task list", "none; ")
		added := s.Must(t, "task", "add", "backup", "--handler", "dump", "--timer", "2099-01-01 02:00", "--args", `{"a":1}`,
			"--overlap", "queue", "--deadline", "1h", "--jitter", "5", "--starts", "2026-01-01 00:00", "--summary", "all of it")
		clitest.WantLines(t, added, "added backup", "ELAPSES ", "+ 0 s, its part of the jitter")
		if !strings.Contains(added, "2099-01-01 02:00:00") {
			t.Errorf("task add does not show the next elapse:\n%s", added)
		}
		s.Says(t, ui.Failed, "task add backup --handler x --timer daily", "exists already", "task set")
		s.Says(t, ui.Done, "task list", "backup not run yet - not planned yet - 2099-01-01 02:00 dump -")
		s.Must(t, "scheduler", "--once")
		s.Says(t, ui.Done, "task show backup", "task backup", `args {"a":1}`, "overlap queue", "deadline 3600 s",
			"jitter 5 s", "summary all of it", "next run ")

		changed := s.Must(t, "task", "set", "backup", "--deadline", "none", "--starts", "none", "--timer", "*-*-* 02:00")
		clitest.WantLines(t, changed, "changed backup", "ELAPSES ")
		if show := s.Must(t, "task", "show", "backup"); strings.Contains(show, "starts") || strings.Contains(show, "deadline") {
			t.Errorf("starts and deadline are still there:\n%s", show)
		}
		s.Says(t, ui.Done, "task disable backup", "disabled backup")
		s.Says(t, ui.Done, "task list", "backup disabled - disabled - *-*-* 02:00 dump")
		s.Says(t, ui.Done, "task enable backup", "enabled backup")
		s.Says(t, ui.Done, "task rm backup", "deleted backup")
		for _, command := range []string{"show", "enable", "disable", "rm", "run"} {
			s.Fails(t, ui.Failed, []string{"task", command, "backup"}, `task "backup"`, "not found", "nextrun task list")
		}
		s.Says(t, ui.Failed, "task set backup --group x", "not found")
	})
}

func TestTaskAddTakesEveryColumn(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Stdin = `{"from": "stdin"}`
		s.Exec(t, "INSERT INTO periodic_calendar (name, first_day) VALUES ('c', '2035-12-24')")
		s.Must(t, "task", "add", "a", "--handler", "t", "--timer", "daily", "--group", "g", "--args", "-", "--subject", "su",
			"--submitter", "me", "--summary", "sum", "--priority", "10", "--starts", "2026-01-01T00:00:00+01:00",
			"--ends", "2030-01-01", "--overlap", "allow", "--catchup", "all", "--sink", "job", "--grace", "2m",
			"--deadline", "0", "--jitter", "3", "--retry-limit", "0", "--retry-delay", "2m", "--timeout", "1h", "--exclude-calendars", "c", "--disabled",
			"--catchup-limit", "5", "--pause-after", "3")
		var got map[string]any
		s.JSON(t, &got, "task", "show", "a")
		want := map[string]any{
			"id": "a", "handler": "t", "timer": "daily", "group": "g", "args": `{"from": "stdin"}`, "subject": "su",
			"submitter": "me", "summary": "sum", "priority": 10.0, "starts": "2025-12-31T23:00:00Z",
			"ends": "2030-01-01T00:00:00Z", "overlap": "allow", "catchup": "all", "sink": "job", "grace": 120.0,
			"deadline": 0.0, "jitter": 3.0, "enabled": false, "nextrun": "1970-01-01T00:00:00Z", "due": nil,
			"retry_limit": 0.0, "retry_delay": 120.0, "timeout": 3600.0, "exclude_calendars": "c",
			"catchup_limit": 5.0, "pause_after": 3.0,
			"problem": nil, "origin": nil, "paused": nil, "paused_until": nil, "paused_by": nil, "paused_reason": nil, "worker": nil, "marked": nil, "last_run": nil, "last_tick": nil, "state": "disabled", "attention": nil, "since": nil, "failures": 0.0, "next": nil, "last_success": nil, "skips": []any{}, "ticks": []any{}, "upcoming": []any{},
		}
		delete(got, "created")
		delete(got, "findings")
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		s.Must(t, "task", "set", "a", "--retry-limit", "none", "--retry-delay", "none", "--timeout", "none",
			"--catchup-limit", "none", "--pause-after", "none")
		s.JSON(t, &got, "task", "show", "a")
		for _, column := range []string{"retry_limit", "retry_delay", "timeout", "catchup_limit", "pause_after"} {
			if got[column] != nil {
				t.Errorf("%s is %v after it was set to none", column, got[column])
			}
		}
	})
}

// Who adds or changes a task that never elapses is warned, also if it is
// disabled for now.
func TestTaskThatNeverElapses(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		const warning = "warning: it never elapses"
		for _, args := range [][]string{
			{"add", "a", "--handler", "t", "--timer", "*-02-30"},
			{"add", "b", "--handler", "t", "--timer", "2020-01-01", "--disabled"},
			{"set", "a", "--timer", "daily", "--ends", "2020-01-01"},
		} {
			s.Fails(t, ui.Done, append([]string{"task"}, args...), warning)
		}
		r := s.Says(t, ui.Done, "task set a --ends none")
		if r.Stderr != "" {
			t.Errorf("a warning about what is good: %s", r.Stderr)
		}
	})
}

func TestTaskAddRefuses(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		add := func(extra ...string) []string {
			return append([]string{"task", "add", "a", "--handler", "t", "--timer", "daily"}, extra...)
		}
		s.Fails(t, ui.WrongUsage, add("--args", "{"), "args", "JSON")
		s.Fails(t, ui.WrongUsage, add("--starts", "2026-01-02", "--ends", "2026-01-01"), "ends", "later than starts")
		s.Fails(t, ui.WrongUsage, add("--group", strings.Repeat("x", 255)), "group", "255 characters")
		s.Says(t, ui.WrongUsage, "task add '' --handler t --timer daily", "id", "empty")
		s.Says(t, ui.Done, "task list", "none; ")
	})
}

// What is wrong with a row that somebody else wrote shows in the list, and the
// row does not keep its neighbours from running.
func TestTaskListShowsProblems(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('bad', 'echo', 'Mon 25:00')`)
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('good', 'echo', 'daily')`)
		s.Must(t, "scheduler", "--once")
		list := s.Must(t, "task", "list")
		clitest.WantLines(t, list, "bad blocked - blocked - Mon 25:00 echo timer", "good not run yet - in ")
		if !strings.Contains(list, "25") {
			t.Errorf("the list does not say what is wrong:\n%s", list)
		}
		if text := s.Must(t, "task", "list", "--state", "problem"); strings.Contains(text, "good") || !strings.Contains(text, "bad") {
			t.Errorf("--state problem lists\n%s", text)
		}
		r := s.Says(t, ui.Changes, "check", "errors: 1")
		clitest.WantLines(t, r.Stdout, "error task bad")
		s.Must(t, "task", "set", "bad", "--timer", "hourly")
		s.Says(t, ui.Done, "task list --state problem", "none of that kind\n")
	})
}

func TestTaskRun(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "on", "--handler", "t", "--timer", "2099-01-01")
		s.Must(t, "task", "add", "off", "--handler", "t", "--timer", "2099-01-01", "--disabled")
		s.Says(t, ui.Done, "task run on off", "on: job ", "off: job ")
		for _, id := range []string{"on", "off"} {
			if show := s.Must(t, "task", "show", id); !strings.Contains(show, "last run  waiting") {
				t.Errorf("%s does not say that it was submitted:\n%s", id, show)
			}
		}
		s.Says(t, ui.Failed, "task run off", "still waiting")
	})
}

// Names from the database cannot move the cursor of a terminal.
func TestListsAreSafeForTerminals(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "a\x1b[2J\nb", "--handler", "t", "--timer", "daily")
		if list := s.Must(t, "task", "list"); strings.ContainsRune(list, '\x1b') || strings.Count(list, "\n") != 2 {
			t.Errorf("the list is %q", list)
		}
	})
}

// Tasks are read page by page.
func TestCheckLooksAtAllTasks(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, args)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
			SELECT 'task-' || i, 'echo', 'daily', '{}' FROM n`)
		s.Says(t, ui.Done, "check", "ok tasks 2500, no problems found")
	})
}

// On Docspell's database, commands that write tasks warn of what Docspell cannot read.
func TestWarningsOfDocspell(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		warned := func(want string, args ...string) {
			t.Helper()
			r := s.Run(t.Context(), args...)
			if r.Exit != ui.Done || (want == "") != (r.Stderr == "") || !strings.Contains(r.Stderr, want) {
				t.Errorf("nextrun %s: %d, want the warning %q\n%s", strings.Join(args, " "), r.Exit, want, r.Stderr)
			}
		}
		warned("", "task", "add", "a b", "--handler", "backup", "--timer", "daily")
		s.Exec(t, `CREATE TABLE node (id varchar(254), type varchar(254), url varchar(254))`)
		warned(`warning: task "a/b": Docspell cannot read id "a/b"`, "task", "add", "a/b", "--handler", "backup", "--timer", "daily")
		warned("", "task", "add", "good", "--handler", "empty-trash", "--timer", "*-*-* 02:00:00")
		warned(`warning: task "good": Docspell cannot read the timer "every 36h"`, "task", "set", "good", "--timer", "every 36h")
		file := clitest.WriteFile(t, "tasks.yaml", "tasks:\n  filed: {handler: backup, timer: '*-*-* 03:00:00'}\n")
		warned(`warning: task "filed": Docspell 0.43 has no task "backup"`, "task", "apply", "-f", file)
	})
}
