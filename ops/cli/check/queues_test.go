package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestCheckOfQueues(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, sink, enabled) VALUES
			('a', 'report', 'daily', 'river', true), ('b', 'report', 'daily', 'rivre', true), ('off', 'report', 'daily', 'none', false)`)
		// Schedulers may have another configuration.
		s.Says(t, ui.Done, "check", `warning task a sink "river": this program has no queue of that name; name the configuration file`)
		config := clitest.WriteFile(t, "nextrun.yaml", "queues: {river: {type: river}}\n")
		missing := `relation "river_job" does not exist`
		if strings.HasPrefix(s.Env["NEXTRUN_DB"], "sqlite:") {
			missing = "no such table: river_job"
		}
		s.Says(t, ui.Changes, "check --config "+config, "errors: 2", "error queue river enqueue: "+missing+"; run: river migrate-up",
			`error task b sink "rivre": this program has no queue of that name`, "! task a ", "! task off")
		s.MakeRiver(t)
		s.Exec(t, `DELETE FROM periodic_task WHERE id = 'b'`)
		s.Says(t, ui.Done, "check --config "+config, "ok queue river river", "ok tasks 2, no problems found")
	})
}

// What a queue cannot do, a task is warned of, once; a scheduler warns in the row.
func TestCheckWarnsOfReplaceWithoutCancel(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.MakeRiver(t)
		s.Exec(t, `CREATE TABLE mail (id varchar(36) PRIMARY KEY, done integer)`)
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, sink, overlap) VALUES
			('a', 'report', 'daily', 'river', 'replace'), ('b', 'report', 'daily', 'mail', 'replace'), ('c', 'report', 'daily', 'mail', 'queue')`)
		s.Env["NEXTRUN_CONFIG"] = clitest.WriteFile(t, "nextrun.yaml", `queues:
  river: {type: river}
  mail:
    type: sql
    enqueue: INSERT INTO mail (id) SELECT jid FROM nextrun_batch
    pending: SELECT o.jid FROM nextrun_open AS o JOIN mail AS m ON m.id = o.jid WHERE m.done IS NULL
`)
		const warning = `warning task b overlap replace: the queue "mail" cannot cancel jobs`
		s.Says(t, ui.Done, "check", warning, "! task a ", "! task c ")
		s.Must(t, "scheduler", "--once")
		s.Says(t, ui.Done, "check", warning, "! task a ", "! task c ")
	})
}

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
