package cli_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s shell) {
		up := s.must(t, "migrate", "up")
		wantLines(t, up, "applied 00001_job.sql", "applied 00002_periodic_task.sql")
		if again := s.must(t, "migrate", "up"); again != "nothing to do\n" {
			t.Errorf("migrate up again says %q", again)
		}
		wantLines(t, s.must(t, "migrate", "status"), "VERSION MIGRATION APPLIED", "1 00001_job.sql yes")

		s.exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('a', 'echo', 'daily')`)
		s.fails(t, cli.WrongUsage, []string{"migrate", "down"}, "all tasks and jobs", "--yes")
		if !strings.Contains(s.must(t, "task", "list"), "echo") {
			t.Error("migrate down without --yes has removed the task")
		}
		wantLines(t, s.must(t, "migrate", "down", "--yes"), "removed 00001_job.sql")
		var status []struct {
			Version int
			Name    string
			Applied bool
		}
		s.json(t, &status, "migrate", "status")
		if len(status) == 0 || status[0].Applied {
			t.Errorf("after migrate down: %+v", status)
		}
	})
}

// All commands that need the tables refuse a database that lacks them, or has
// newer ones, and name the way out.
func TestSchemaIsRequired(t *testing.T) {
	t.Parallel()
	commands := []string{"task list", "scheduler", "scheduler --once", "task run a"}
	onBoth(t, func(t *testing.T, s shell) {
		for _, command := range commands {
			s.fails(t, cli.Failed, strings.Fields(command), "nextrun migrate up")
		}
		s.fails(t, cli.Failed, []string{"check"}, "errors: 1")
		s.must(t, "scheduler", "--once", "--migrate")
		s.exec(t, `INSERT INTO nextrun_migration (version_id, is_applied) VALUES (999999, true)`)
		for _, command := range append(commands, "migrate up", "scheduler --once --migrate") {
			s.fails(t, cli.Failed, strings.Fields(command), "newer than this program", "use a newer nextrun")
		}
	})
}

// A scheduler and an executor whose tables are taken away say what is wrong, and
// go on when they are back.
func TestServeOutlivesMigrateDown(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		config := writeFile(t, "nextrun.yaml", "handlers: {echo: {command: [echo]}}\nexecutor: {poll_interval: 1s}\nscheduler: {poll_interval: 1s}\n")
		b := s.start(t, "serve", "--config", config)
		b.waitFor("started  ")
		s.must(t, "migrate", "down", "--yes")
		b.waitFor("scheduler failed; trying again", "missing", "nextrun migrate up")
		b.waitFor("the executor is kept from its work", "missing", "nextrun migrate up")
		s.must(t, "migrate", "up")
		s.exec(t, `INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('a', 'echo', 'daily', '2026-01-01 00:00:00')`)
		b.waitFor("job submitted", "id=a")
		b.waitFor("job ended", "state=success")
		b.stop()
		b.waitFor("stopped")
	})
}
