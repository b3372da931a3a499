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

func TestTaskApply(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		file := clitest.WriteFile(t, "tasks.yaml", tasksFile)
		dry := s.Fails(t, ui.Changes, []string{"task", "apply", "-f", file, "--dry-run"})
		clitest.WantLines(t, dry.Stdout, "add a", "add b", "to change: 2 of 2")
		s.Says(t, ui.Done, "task list", "none; ")
		clitest.WantLines(t, s.Must(t, "task", "apply", "-f", file), "add a", "add b", "changed: 2 of 2")
		s.Must(t, "scheduler", "--once")
		s.Must(t, "task", "apply", "-f", file, "--dry-run") // nothing to change
		if again := s.Must(t, "task", "apply", "-f", file); again != "changed: 0 of 2 tasks in the file\n" {
			t.Errorf("applied again:\n%s", again)
		}

		s.Must(t, "task", "add", "c", "--handler", "other", "--timer", "daily", "--group", "g")
		edited := clitest.WriteFile(t, "edited.yaml", "tasks: {a: {handler: echo, timer: daily, priority: 10, args: {  }}}\n")
		clitest.WantLines(t, s.Must(t, "task", "apply", "-f", edited), `change a priority: "0" -> "10"`, "changed: 1 of 1")
		clitest.WantLines(t, s.Must(t, "task", "apply", "-f", edited, "--prune", "disable", "--group", "g"), "disable c", "changed: 1 ")
		clitest.WantLines(t, s.Must(t, "task", "apply", "-f", edited, "--prune", "delete"), "delete b", "delete c", "changed: 2 ")
		if list := s.Must(t, "task", "list"); strings.Count(list, "\n") != 2 {
			t.Errorf("after the pruning:\n%s", list)
		}
	})
}

// What stays as it is keeps its plan: a file that is applied every minute must
// not keep a daily task from ever running.
func TestTaskApplyKeepsThePlan(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "apply", "-f", clitest.WriteFile(t, "1.yaml", tasksFile))
		s.Must(t, "scheduler", "--once")
		plan := func() string {
			var task struct{ NextRun string }
			s.JSON(t, &task, "task", "show", "a")
			return task.NextRun
		}
		before := plan()
		s.Must(t, "task", "apply", "-f", clitest.WriteFile(t, "2.yaml", strings.Replace(tasksFile, "timer: daily", "timer: daily, subject: x", 1)))
		if after := plan(); after != before {
			t.Errorf("a new subject moves the plan from %s to %s", before, after)
		}
		s.Must(t, "task", "apply", "-f", clitest.WriteFile(t, "3.yaml", strings.Replace(tasksFile, "daily", "'*-*-* 05:00'", 1)))
		if after := plan(); after != "1970-01-01T00:00:00Z" {
			t.Errorf("a new timer leaves the plan at %s", after)
		}
	})
}

// One bad task, and nothing is changed; all that is wrong is said at once.
func TestTaskApplyAllOrNothing(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		bad := clitest.WriteFile(t, "bad.yaml", "tasks:\n  a: {handler: t, timer: daily}\n  b: {handler: t, timer: 'Mon 25:00'}\n  c: {handler: t, timer: daily, overlap: maybe}\n")
		s.Fails(t, ui.Failed, []string{"task", "apply", "-f", bad}, "nothing was changed", `task "b": timer "`, `task "c": overlap: is "maybe"`)
		unknown := clitest.WriteFile(t, "unknown.yaml", "tasks:\n  a: {handler: t, timr: daily}\n")
		s.Fails(t, ui.Failed, []string{"task", "apply", "-f", unknown}, unknown+`:2: unknown key "timr"`)
		s.Says(t, ui.Done, "task list", "none; ")
		s.Says(t, ui.WrongUsage, "task apply", "missing -f FILE")
		s.Fails(t, ui.WrongUsage, []string{"task", "apply", "-f", bad, "--prune", "burn"}, "use one of disable, delete")
		s.Says(t, ui.Failed, "task apply -f /does/not/exist", "/does/not/exist")
	})
}

func TestTaskExportAndApply(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "apply", "-f", clitest.WriteFile(t, "tasks.yaml", tasksFile))
		s.Must(t, "task", "add", "c", "--handler", "t", "--timer", "every 36h", "--args", `{"b":  [1,2], "a": 1}`, "--deadline", "1h",
			"--jitter", "5", "--retry-limit", "0", "--retry-delay", "6", "--timeout", "7",
			"--starts", "2026-01-01 00:00:00.5", "--overlap", "replace", "--catchup", "all", "--summary", "x: y")
		exported := s.Must(t, "task", "export")
		s.Stdin = exported
		s.Says(t, ui.Done, "task apply -f - --prune delete", "changed: 0 of 3 tasks in the file\n")
		s.Must(t, "task", "rm", "a", "b", "c")
		s.Must(t, "task", "apply", "-f", "-")
		s.Stdin = s.Must(t, "task", "export")
		for _, column := range []string{"timer: every 36h", "deadline: 3600", "retry_limit: 0", "retry_delay: 6", "timeout: 7", "overlap: replace", "starts: 2026-01-01T00:00:00.5Z"} {
			if !strings.Contains(s.Stdin, column) {
				t.Errorf("%s is lost in\n%s", column, s.Stdin)
			}
		}
		s.Says(t, ui.Done, "task apply -f -", "changed: 0 of 3 tasks in the file\n")
		if some := s.Must(t, "task", "export", "--handler", "t"); strings.Contains(some, "hourly") || !strings.Contains(some, "36h") {
			t.Errorf("--task t exports\n%s", some)
		}
	})
}

// A row may hold args that are not JSON. A file with such a task can be applied,
// and restores what was exported.
func TestTaskApplyTakesArgsThatAreNotJSON(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, args) VALUES ('plain', 'echo', 'daily', '--full /srv')`)
		s.Must(t, "task", "add", "json", "--handler", "echo", "--timer", "daily")
		s.Stdin = s.Must(t, "task", "export")
		s.Says(t, ui.Done, "task apply -f -", "changed: 0 of 2 tasks in the file\n")
		s.Must(t, "task", "rm", "plain", "json")
		r := s.Run(t.Context(), "task", "apply", "-f", "-")
		if r.Exit != ui.Done || !strings.Contains(r.Stderr, `warning: task "plain": args is not JSON`) || strings.Contains(r.Stderr, `"json"`) {
			t.Errorf("exit code %d\n%s", r.Exit, r.Stderr)
		}
		var task struct{ Args, Problem string }
		s.JSON(t, &task, "task", "show", "plain")
		if task.Args != "--full /srv" || !strings.HasPrefix(task.Problem, "warning: args is not JSON") {
			t.Errorf("got %+v", task)
		}
	})
}

// With an origin, the file prunes only what it has declared, leaves a task disabled that somebody has
// disabled, and takes no task of another origin.
func TestTaskApplyWithAnOrigin(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		apply := func(file string, more ...string) []string {
			return append([]string{"task", "apply", "-f", clitest.WriteFile(t, "tasks.yaml", "tasks: {"+file+"}\n")}, more...)
		}
		s.Must(t, "task", "add", "mine", "--handler", "echo", "--timer", "daily")
		s.Must(t, apply("a: {handler: echo, timer: daily}, b: {handler: echo, timer: daily}", "--origin", "f")...)
		note := s.Run(t.Context(), "task", "set", "a", "--priority", "7")
		if !strings.Contains(note.Stderr, "note: f declares this task") {
			t.Errorf("a change of a declared task says %q", note.Stderr)
		}
		s.Must(t, "task", "disable", "a")
		done := s.Run(t.Context(), apply("a: {handler: echo, timer: hourly}", "--origin", "f", "--prune", "delete")...)
		clitest.WantLines(t, done.Stdout, `change a timer: "daily" -> "hourly", priority: "7" -> "0"`, "delete b", "changed: 2 of 1 task")
		if !strings.Contains(done.Stderr, "note: task a stays disabled, since somebody has disabled it") {
			t.Errorf("of a task that somebody has disabled it says %q", done.Stderr)
		}
		s.Fails(t, ui.Failed, apply("a: {handler: echo, timer: daily}", "--origin", "g"), `nothing was changed: task "a": "f" declares it`)
		if list := s.Must(t, "task", "list"); !strings.Contains(list, "mine") || !strings.Contains(list, "hourly") {
			t.Errorf("the table has\n%s", list)
		}
		s.Says(t, ui.Done, "task show a", "declared by")
	})
}
