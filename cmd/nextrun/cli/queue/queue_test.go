package queue_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

const riverOnly = "queues:\n  river: {type: river, queue: default}\n"

// queueJSON is what --json shows of a queue.
type queueJSON struct {
	Name, Type, Version string
	Problems            []struct{ Level, Text, Remedy string }
	Grants              []string
}

// The list shows what was found, and what keeps a queue from being fed.
func TestQueueList(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		if got := s.Must(t, "queue", "list"); !strings.HasPrefix(got, "none; jobs go to the table job. To feed another queue: ") {
			t.Errorf("without a configuration: %q", got)
		}
		s.Env["NEXTRUN_CONFIG"] = clitest.WriteFile(t, "nextrun.yaml", riverOnly)
		clitest.WantLines(t, s.Must(t, "queue", "list"), "NAME TYPE VERSION PROBLEM",
			"river river - there is no table river_job in this database: run: river migrate-up")
		var before []queueJSON
		s.JSON(t, &before, "queue", "list")
		if len(before) != 1 || len(before[0].Problems) != 1 || before[0].Problems[0].Level != "error" || before[0].Problems[0].Remedy == "" {
			t.Errorf("--json without tables: %+v", before)
		}
		s.MakeRiver(t)
		clitest.WantLines(t, s.Must(t, "queue", "list"), "river river schema level 7 -")
	})
}

func TestQueueCheck(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Fails(t, ui.WrongUsage, []string{"queue", "check", "river"}, "no queues are configured; name the configuration file that has it with --config")
		s.Env["NEXTRUN_CONFIG"] = clitest.WriteFile(t, "nextrun.yaml", riverOnly)
		s.Fails(t, ui.WrongUsage, []string{"queue", "check", "rivre"}, `the configuration has no queue "rivre"; use one of river`)
		s.Fails(t, ui.WrongUsage, []string{"queue", "check", "job"}, "job is built in")
		r := s.Fails(t, ui.Changes, []string{"queue", "check", "river"}, "errors: 1")
		clitest.WantLines(t, r.Stdout, "name river", "version none found", "error there is no table river_job in this database: run: river migrate-up")
		s.Fails(t, ui.Changes, []string{"queue", "check", "river", "--json"}, "errors: 1")
		s.MakeRiver(t)
		found := s.Must(t, "queue", "check", "river")
		clitest.WantLines(t, found, "name river", "type river", "version schema level 7")
		if strings.Contains(found, "GRANT SELECT, INSERT, UPDATE ON") == strings.HasPrefix(s.Env["NEXTRUN_DB"], "sqlite:") {
			t.Errorf("the rights:\n%s", found)
		}
		var one queueJSON
		s.JSON(t, &one, "queue", "check", "river")
		if one.Name != "river" || len(one.Problems) != 0 {
			t.Errorf("--json: %+v", one)
		}
	})
}

// The trigger is SQL to run: it ends waits, and is removed again. Printing it changes
// nothing.
func TestQueueTrigger(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Env["NEXTRUN_CONFIG"] = clitest.WriteFile(t, "nextrun.yaml", riverOnly)
		s.Fails(t, ui.Failed, []string{"queue", "trigger", "river"}, "there is no table river_job")
		s.MakeRiver(t)
		s.Must(t, "task", "add", "a", "--task", "report", "--timer", "2099-01-01", "--sink", "river", "--disabled")
		create, drop := s.Must(t, "queue", "trigger", "river"), s.Must(t, "queue", "trigger", "river", "--drop")
		for _, step := range []struct {
			what, script string
			left         int // rows of periodic_open once the job is gone
		}{{"without", "", 1}, {"with", create, 0}, {"created twice", create, 0}, {"dropped", drop, 1}} {
			if step.script != "" {
				s.Exec(t, step.script)
			}
			s.Must(t, "task", "run", "a")
			s.Exec(t, "DELETE FROM river_job")
			storetest.At(t, s.Env["NEXTRUN_DB"]).Want(step.left, "SELECT count(*) FROM periodic_open")
		}
	})
}

// The end of jobs that only the user's own SQL knows is for the user to tell.
func TestQueueTriggerOfUsersSQL(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `CREATE TABLE mail (id varchar(36) PRIMARY KEY)`)
		s.Env["NEXTRUN_CONFIG"] = clitest.WriteFile(t, "nextrun.yaml", `queues: {mail: {type: sql,
  enqueue: INSERT INTO mail SELECT jid FROM nextrun_batch, pending: SELECT o.jid FROM nextrun_open AS o JOIN mail ON id = o.jid}}
`)
		s.Fails(t, ui.Failed, []string{"queue", "trigger", "mail"}, "no trigger can tell when a job of this queue ends",
			"DELETE FROM periodic_open WHERE sink = 'mail' AND ref = ...")
	})
}
