package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// Hooks that name what is not there, or that never hear of anything, are found before
// somebody relies on them.
func TestCheckOfHooks(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, id := range []string{"a", "b", "c", "off"} {
			s.Must(t, "task", "add", id, "--handler", "echo", "--timer", "daily")
		}
		s.Must(t, "task", "disable", "off")
		s.Must(t, "task", "add", "told", "--handler", "note", "--timer", "daily", "--sink", "event")
		good := clitest.WriteFile(t, "good.yaml", `
on_failure: {url: "https://example.org/T0KEN"}
handlers: {echo: {command: [echo]}}
tasks:
  a: {on_success: {submit: b}, ping: "https://example.org/T0KEN"}
  told: {on_missed: none}
`)
		if report := s.Must(t, "check", "--config", good); strings.Contains(report, "hook") || strings.Contains(report, "T0KEN") {
			t.Errorf("the report:\n%s", report)
		}
		bad := clitest.WriteFile(t, "bad.yaml", `
on_failure: {command: [echo]}
handlers: {echo: {command: [echo], on_missed: {submit: nowhere}}}
tasks:
  a: {on_success: {submit: b}}
  b: {on_failure: {submit: c}}
  c: {on_success: {submit: a}, on_failure: {submit: off}}
  nobody: {on_failure: none}
  told: {on_failure: {command: [echo]}}
`)
		r := s.Fails(t, ui.Changes, []string{"check", "--config", bad}, "errors: 2")
		clitest.WantLines(t, r.Stdout,
			`warning hook handlers.echo.on_missed there is no task "nowhere" to submit`,
			`warning hook tasks.c.on_failure the task "off" is disabled`,
			`warning hook tasks.nobody.on_failure there is no task "nobody"`,
			`error hook tasks.told.on_failure it hears of nothing: the jobs go to the queue "event", which does not tell how they end`,
			"error configuration "+bad+": by their hooks the tasks a > b > c > a submit each other in a circle")
		if strings.Count(r.Stdout, "in a circle") != 1 {
			t.Errorf("the report:\n%s", r.Stdout)
		}
	})
}

// A hook of a handler all of whose tasks feed other queues never hears how their jobs
// end. One task whose jobs nextrun runs is enough for it.
func TestCheckOfHooksThatNeverHear(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config := clitest.WriteFile(t, "nextrun.yaml", `
handlers:
  note: {command: [echo], on_failure: {command: [echo]}, on_missed: {command: [echo]}, on_success: none}
  unused: {command: [echo], on_failure: {command: [echo]}}
`)
		s.Must(t, "task", "add", "a", "--handler", "note", "--timer", "daily", "--sink", "event")
		s.Must(t, "task", "add", "b", "--handler", "note", "--timer", "daily", "--sink", "event")
		report := s.Fails(t, ui.Changes, []string{"check", "--config", config}, "errors: 1").Stdout
		clitest.WantLines(t, report, `error hook handlers.note.on_failure it hears of nothing: the jobs go to the queue "event", which does not tell how they end`)
		if strings.Contains(report, "note.on_missed") || strings.Contains(report, "note.on_success") || strings.Contains(report, "unused.on_failure") {
			t.Errorf("the report:\n%s", report)
		}
		s.Must(t, "task", "add", "c", "--handler", "note", "--timer", "daily")
		if report := s.Must(t, "check", "--config", config); strings.Contains(report, "handlers.note.") {
			t.Errorf("with a task whose jobs nextrun runs:\n%s", report)
		}
	})
}
