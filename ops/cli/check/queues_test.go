package check_test

import (
	"path/filepath"
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
		report := s.Must(t, "check") // schedulers may have another configuration
		clitest.WantLines(t, report, `warning task a sink "river": this program has no queue of that name; name the configuration file`)

		config := clitest.WriteFile(t, "nextrun.yaml", "queues: {river: {type: river}}\n")
		r := s.Fails(t, ui.Changes, []string{"check", "--config", config}, "errors: 2")
		missing := `error queue river enqueue: relation "river_job" does not exist; run: river migrate-up`
		if strings.HasPrefix(s.Env["NEXTRUN_DB"], "sqlite:") {
			missing = "error queue river enqueue: no such table: river_job; run: river migrate-up"
		}
		clitest.WantLines(t, r.Stdout, missing,
			`error task b sink "rivre": this program has no queue of that name`)
		if strings.Contains(r.Stdout, "task a ") || strings.Contains(r.Stdout, "task off") {
			t.Errorf("the report:\n%s", r.Stdout)
		}
		s.MakeRiver(t)
		s.Exec(t, `DELETE FROM periodic_task WHERE id = 'b'`)
		clitest.WantLines(t, s.Must(t, "check", "--config", config), "ok queue river river", "ok tasks 2, no problems found")
	})
}

// What a queue cannot do, a task is warned of, once.
func TestCheckWarnsOfReplaceWithoutCancel(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.MakeRiver(t)
		s.Exec(t, `CREATE TABLE mail (id varchar(36) PRIMARY KEY, done integer)`)
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, sink, overlap) VALUES
			('a', 'report', 'daily', 'river', 'replace'), ('b', 'report', 'daily', 'mail', 'replace'), ('c', 'report', 'daily', 'mail', 'queue')`)
		config := clitest.WriteFile(t, "nextrun.yaml", `queues:
  river: {type: river}
  mail:
    type: sql
    enqueue: INSERT INTO mail (id) SELECT jid FROM nextrun_batch
    pending: SELECT o.jid FROM nextrun_open AS o JOIN mail AS m ON m.id = o.jid WHERE m.done IS NULL
`)
		for _, scheduled := range []bool{false, true} { // a scheduler warns in the row
			if scheduled {
				s.Must(t, "scheduler", "--once", "--config", config)
			}
			report := s.Must(t, "check", "--config", config)
			clitest.WantLines(t, report, `warning task b overlap replace: the queue "mail" cannot cancel jobs`)
			if n := strings.Count(report, "warning"); n != 1 && !strings.Contains(report, "before 3.51.3") {
				t.Errorf("%d warnings, want one:\n%s", n, report)
			}
		}
	})
}

// Settings of a queue that this database cannot have are named with their place.
func TestCheckOfASettingThatTheDatabaseRefuses(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config := clitest.WriteFile(t, "nextrun.yaml", "queues: {boss: {type: pg-boss}}\n")
		want := `error queue boss enqueue: relation "pgboss.job" does not exist`
		if strings.HasPrefix(s.Env["NEXTRUN_DB"], "sqlite:") {
			want = "error configuration " + config + ": queues.boss: pg-boss: the database is SQLite"
		}
		r := s.Fails(t, ui.Changes, []string{"check", "--config", config}, "errors: 1")
		clitest.WantLines(t, r.Stdout, want)
	})
}

// check reports a mistake in the settings of a queue once, beside other mistakes.
func TestCheckTellsOfAQueueBesideOtherMistakes(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "sqlite:" + filepath.Join(t.TempDir(), "nextrun.db")}}
	s.Must(t, "migrate", "up")
	config := clitest.WriteFile(t, "nextrun.yaml", `queues:
  boss: {type: pg-boss}
  river: {type: river, notify: {url: "https://worker.example.org", header_env: {Authorization: WORKER_TOKEN}}}
`)
	for _, token := range []string{"", "Bearer x"} {
		s.Env["WORKER_TOKEN"] = token
		r := s.Fails(t, ui.Changes, []string{"check", "--config", config})
		if n := strings.Count(r.Stdout, "queues.boss: pg-boss: the database is SQLite"); n != 1 {
			t.Errorf("with the token %q the queue is named %d times:\n%s", token, n, r.Stdout)
		}
	}
}
