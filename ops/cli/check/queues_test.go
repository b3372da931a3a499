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
