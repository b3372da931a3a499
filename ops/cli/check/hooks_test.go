package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// Hooks that name what is not there, or that never hear of anything, are found before somebody relies on them. A hook of a
// handler hears of something if one of its tasks has jobs that nextrun runs.
func TestCheckOfHooks(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, sink, enabled) VALUES ('a', 'echo', 'daily', 'job', true), ('b', 'echo', 'daily', 'job', true),
			('c', 'echo', 'daily', 'job', true), ('off', 'echo', 'daily', 'job', false), ('told', 'note', 'daily', 'event', true), ('told2', 'note', 'daily', 'event', true)`)
		good := clitest.WriteFile(t, "good.yaml", `
on_failure: {url: "https://example.org/T0KEN"}
handlers: {echo: {command: [echo]}}
tasks:
  a: {on_success: {submit: b}, ping: "https://example.org/T0KEN"}
  told: {on_missed: none}
`)
		s.Says(t, ui.Done, "check --config "+good, "! hook", "! T0KEN")
		bad := clitest.WriteFile(t, "bad.yaml", `
on_failure: {command: [echo]}
handlers:
  echo: {command: [echo], on_missed: {submit: nowhere}}
  note: {command: [echo], on_failure: {command: [echo]}, on_missed: {command: [echo]}, on_success: none}
  unused: {command: [echo], on_failure: {command: [echo]}}
tasks:
  a: {on_success: {submit: b}}
  b: {on_failure: {submit: c}}
  c: {on_success: {submit: a}, on_failure: {submit: off}}
  nobody: {on_failure: none}
  told: {on_failure: {command: [echo]}}
`)
		const deaf = `.on_failure it hears of nothing: the jobs go to the queue "event", which does not tell how they end`
		r := s.Says(t, ui.Changes, "check --config "+bad, "errors: 3",
			`warning hook handlers.echo.on_missed there is no task "nowhere" to submit`, `warning hook tasks.c.on_failure the task "off" is disabled`,
			`warning hook tasks.nobody.on_failure there is no task "nobody"`, "error hook tasks.told"+deaf, "error hook handlers.note"+deaf,
			"error configuration "+bad+": by their hooks the tasks a > b > c > a submit each other in a circle",
			"! note.on_missed", "! note.on_success", "! unused.on_failure")
		if strings.Count(r.Stdout, "in a circle") != 1 {
			t.Errorf("the report:\n%s", r.Stdout)
		}
		s.Exec(t, "UPDATE periodic_task SET sink = 'job' WHERE id = 'told2'")
		s.Says(t, ui.Changes, "check --config "+bad, "errors: 2", "! handlers.note.")
	})
}
