package task_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

const (
	riverOnly = "queues:\n  river: {type: river}\n"
	noQueue   = `sink "river": this program has no queue of that name; name the configuration file that has it with --config`
)

// withRiver is a database that has River's tables, a configuration that has River,
// and the database itself.
func withRiver(t *testing.T, s clitest.Shell) (config string, d *storetest.Database) {
	t.Helper()
	s.MakeRiver(t)
	return clitest.WriteFile(t, "nextrun.yaml", riverOnly), storetest.At(t, s.Env["NEXTRUN_DB"])
}

// Commands that change a task warn if this program cannot feed its queue, and say which of its limits the queue does not take.
// The row is good: a scheduler may have that queue.
func TestTaskOfAQueueIsAdded(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		config, _ := withRiver(t, s)
		const add = " --handler report --timer daily --sink river"
		s.Says(t, ui.Done, "task add a"+add, `warning: task "a": `+noQueue)
		s.Says(t, ui.Done, "task add b"+add+" --config "+config, "! warning")
		s.Says(t, ui.Done, "task set b --group mail", `warning: task "b": `+noQueue)
		s.Says(t, ui.WrongUsage, "task set b --sink River", `sink: is "River"; use job, event or the name of a queue`)
		file := strings.Replace(s.Must(t, "task", "export"), "group: mail", "group: post", 1)
		s.Says(t, ui.Done, applied(t, file), `warning: task "a": `+noQueue, `warning: task "b": `+noQueue, `change b group: "mail" -> "post"`)
		s.Says(t, ui.Done, applied(t, file)+" --config "+config, "! warning")

		s.Env["NEXTRUN_CONFIG"] = config
		const why = `warning: task "c": no effect with sink river: `
		s.Says(t, ui.Done, "task add c --retry-limit 2 --retry-delay 1m --timeout 1m --priority 9"+add,
			why+"retry_delay, timeout; set that in the queue, or in its workers")
		s.Says(t, ui.Done, "task set c --retry-delay none", why+"timeout; set that in the queue")
		s.Says(t, ui.Done, applied(t, strings.Replace(s.Must(t, "task", "export"), "timeout: 60", "timeout: 90", 1)), why+"timeout; set that in the queue")
	})
}

// What the command line submits reaches the task's queue, and nothing else does.
func TestTaskOfAQueueIsRun(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config, d := withRiver(t, s)
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, args, sink, enabled, overlap, created)
			VALUES ('off', 'report', 'hourly', '{"n": 1}', 'river', false, 'allow', '2026-01-01 00:00')`)
		const past = "task backfill off --from '2026-03-01 00:30' --to '2026-03-01 03:30'"
		s.Says(t, ui.Failed, "task run off", noQueue)
		s.Says(t, ui.Failed, past, noQueue)
		d.Want(0, "SELECT (SELECT count(*) FROM periodic_tick) + (SELECT count(*) FROM river_job) + (SELECT count(*) FROM job)")
		s.Says(t, ui.Done, "task run off --config "+config, "off: river ")
		s.Says(t, ui.Done, past+" --config "+config, "submitted: 3, already had jobs: 0")
		s.Says(t, ui.Done, past+" --config "+config, "submitted: 0, already had jobs: 3")
		d.Want(4, `SELECT count(*) FROM river_job WHERE kind = 'report'`)
		d.Want(0, `SELECT count(*) FROM job`)
	})
}
