package task_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

const tasksFile = `
tasks:
  a: {handler: echo, timer: daily}
  b: {handler: echo, timer: hourly, args: {n: 1}, enabled: false}
`

// applied is the command that applies a file.
func applied(t *testing.T, file string) string {
	t.Helper()
	return "task apply -f " + clitest.WriteFile(t, "tasks.yaml", file)
}

// A file makes the table as it says. What stays as it is keeps its plan: a file that is applied every minute must not keep a daily
// task from ever running.
func TestTaskApply(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Changes, applied(t, tasksFile)+" --dry-run", "add a", "add b", "to change: 2 of 2")
		s.Says(t, ui.Done, "task list", "none; ")
		s.Says(t, ui.Done, applied(t, tasksFile), "add a", "add b", "changed: 2 of 2")
		s.Must(t, "scheduler", "--once")
		plan := func() string {
			var task struct{ NextRun string }
			s.JSON(t, &task, "task", "show", "a")
			return task.NextRun
		}
		before := plan()
		s.Says(t, ui.Done, applied(t, tasksFile)+" --dry-run")
		s.Says(t, ui.Done, applied(t, tasksFile), "changed: 0 of 2 tasks in the file")
		s.Must(t, "task", "add", "c", "--handler", "other", "--timer", "daily")
		edited := applied(t, "tasks: {a: {handler: echo, timer: daily, priority: 10, args: {  }}}\n")
		s.Says(t, ui.Done, edited, `change a priority: "0" -> "10"`, "changed: 1 of 1")
		s.Says(t, ui.Done, edited+" --prune disable", "disable c", "changed: 1 ")
		s.Says(t, ui.Done, edited+" --prune delete", "delete b", "delete c", "changed: 2 ")
		if after := plan(); after != before {
			t.Errorf("another priority moves the plan from %s to %s", before, after)
		}
		s.Must(t, strings.Fields(applied(t, "tasks: {a: {handler: echo, timer: '*-*-* 05:00'}}\n"))...)
		if after := plan(); after != "1970-01-01T00:00:00Z" {
			t.Errorf("a new timer leaves the plan at %s", after)
		}
	})
}

// One bad task, and nothing is changed; all that is wrong is said at once.
func TestTaskApplyAllOrNothing(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		bad := applied(t, "tasks:\n  a: {handler: t, timer: daily}\n  b: {handler: t, timer: 'Mon 25:00'}\n  c: {handler: t, timer: daily, overlap: maybe}\n")
		s.Says(t, ui.Failed, bad, "nothing was changed", `task "b": timer "`, `task "c": overlap: is "maybe"`)
		s.Says(t, ui.Failed, applied(t, "tasks:\n  a: {handler: t, timr: daily}\n"), `tasks.yaml:2: unknown key "timr"`)
		s.Says(t, ui.Failed, applied(t, "calendars: {c: {someday: x}, d: }\ntasks: {}\n"), `calendars.c: "someday" is no day of a calendar`, "calendars.d has no days")
		s.Says(t, ui.Failed, applied(t, "tasks:\n  t: {handler: x, timer: daily, exclude_calendars: e}\n"), `exclude_calendars names the calendar "e"`)
		s.Says(t, ui.Done, "task list", "none; ")
		s.Says(t, ui.WrongUsage, "task apply", "missing -f FILE")
		s.Says(t, ui.WrongUsage, bad+" --prune burn", "use one of disable, delete")
		s.Says(t, ui.Failed, "task apply -f /does/not/exist", "/does/not/exist")
	})
}

// What is exported can be applied: to what is there without a change, and to another database with its calendars, also where args
// are not JSON.
func TestTaskExportAndApply(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Done, applied(t, tasksFile+"  x: {handler: x, timer: daily, exclude_calendars: c}\ncalendars:\n  c:\n    2035-12-24: Heiligabend\n    2035-12-28 to 2035-12-31:\n"),
			"add calendar c: Heiligabend, 2035-12-24", "add calendar c, 2035-12-28 to 2035-12-31")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, args) VALUES ('plain', 'echo', 'daily', '--full /srv')`)
		s.Must(t, "task", "add", "c", "--handler", "t", "--timer", "every 36h", "--args", `{"b":  [1,2], "a": 1}`, "--deadline", "1h",
			"--jitter", "5", "--retry-limit", "0", "--retry-delay", "6", "--timeout", "7",
			"--starts", "2026-01-01 00:00:00.5", "--overlap", "replace", "--catchup", "all", "--summary", "x: y")
		s.Stdin = s.Must(t, "task", "export")
		s.Says(t, ui.Done, "task apply -f - --prune delete", "changed: 0 of 5 tasks in the file")
		s.Must(t, "task", "rm", "a", "b", "c", "x", "plain")
		s.Exec(t, "DELETE FROM periodic_calendar")
		s.Says(t, ui.Done, "task apply -f -", `warning: task "plain": args is not JSON`, `! task "a"`)
		s.Says(t, ui.Done, "task export", "timer: every 36h", "deadline: 3600", "retry_limit: 0", "retry_delay: 6", "timeout: 7", "overlap: replace",
			"starts: 2026-01-01T00:00:00.5Z", "2035-12-28 to 2035-12-31", "args: --full /srv")
		s.Says(t, ui.Done, "task apply -f -", "changed: 0 of 5 tasks in the file")
		s.Says(t, ui.Done, "task export --handler t", "36h", "! hourly")
		another := strings.NewReplacer("2035-12-24", "2035-12-25", "2035-12-31", "2035-12-30").Replace(s.Stdin)
		s.Says(t, ui.Done, applied(t, another), "add calendar c: Heiligabend, 2035-12-25", "delete calendar c: Heiligabend, 2035-12-24")
		s.Says(t, ui.Done, "task export", "2035-12-28 to 2035-12-30")
	})
}

// With an origin, the file prunes only what it has declared, leaves a task disabled that somebody has
// disabled, and takes no task of another origin.
func TestTaskApplyWithAnOrigin(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "mine", "--handler", "echo", "--timer", "daily")
		s.Says(t, ui.Done, applied(t, "tasks: {a: {handler: echo, timer: daily}, b: {handler: echo, timer: daily}}\n")+" --origin f")
		s.Says(t, ui.Done, "task set a --priority 7", "note: f declares this task")
		s.Must(t, "task", "disable", "a")
		s.Says(t, ui.Done, applied(t, "tasks: {a: {handler: echo, timer: hourly}}\n")+" --origin f --prune delete",
			`change a timer: "daily" -> "hourly", priority: "7" -> "0"`, "delete b", "changed: 2 of 1 task",
			"note: task a stays disabled, since somebody has disabled it")
		s.Says(t, ui.Failed, applied(t, "tasks: {a: {handler: echo, timer: daily}}\n")+" --origin g", `nothing was changed: task "a": "f" declares it`)
		s.Says(t, ui.Done, "task list", "mine", "hourly")
		s.Says(t, ui.Done, "task show a", "declared by")
	})
}
