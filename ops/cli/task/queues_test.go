package task_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
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

// Commands that change a task warn if this program cannot feed its queue. The row is
// good: a scheduler may have that queue.
func TestTaskOfAQueueIsAdded(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config, _ := withRiver(t, s)
		add := func(id string, more ...string) []string {
			return append([]string{"task", "add", id, "--handler", "report", "--timer", "daily", "--sink", "river"}, more...)
		}
		s.Fails(t, ui.Done, add("a"), `warning: task "a": `+noQueue)
		if r := s.Run(t.Context(), add("b", "--config", config)...); r.Exit != ui.Done || r.Stderr != "" {
			t.Errorf("with the configuration: exit code %d\n%s", r.Exit, r.Stderr)
		}
		s.Says(t, ui.Done, "task set b --group mail", `warning: task "b": `+noQueue)
		s.Says(t, ui.WrongUsage, "task set b --sink River", `sink: is "River"; use job, event or the name of a queue`)
		s.Says(t, ui.Done, "task show b", "sink river", "group mail")
		exported := s.Must(t, "task", "export")
		if strings.Count(exported, "sink: river") != 2 {
			t.Errorf("exported:\n%s", exported)
		}
		file := clitest.WriteFile(t, "tasks.yaml", strings.Replace(exported, "group: mail", "group: post", 1))
		r := s.Fails(t, ui.Done, []string{"task", "apply", "-f", file}, `warning: task "a": `+noQueue, `warning: task "b": `+noQueue)
		clitest.WantLines(t, r.Stdout, `change b group: "mail" -> "post"`)
		if r := s.Run(t.Context(), "task", "apply", "-f", file, "--config", config); r.Exit != ui.Done || r.Stderr != "" {
			t.Errorf("with the configuration: exit code %d\n%s", r.Exit, r.Stderr)
		}
		if preview := s.Must(t, "preview", "--hours", "24"); !strings.Contains(preview, " a\n") || !strings.Contains(preview, " b\n") {
			t.Errorf("the preview lacks them:\n%s", preview)
		}
	})
}

// Commands that change a task say which of its limits its queue does not take.
func TestTaskOfAQueueSaysWhichLimitsHaveNoEffect(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Env["NEXTRUN_CONFIG"], _ = withRiver(t, s)
		const why = " no effect with sink river; set "
		s.Fails(t, ui.Done, []string{"task", "add", "a", "--handler", "report", "--timer", "daily", "--sink", "river", "--retry-limit", "2",
			"--retry-delay", "1m", "--timeout", "1m", "--priority", "9"}, `warning: task "a": retry_delay, timeout have`+why+"them in that queue, or in its workers")
		s.Says(t, ui.Done, "task set a --retry-delay none", `warning: task "a": timeout has`+why+"it in that queue, or in its workers")
		file := clitest.WriteFile(t, "tasks.yaml", strings.Replace(s.Must(t, "task", "export"), "timeout: 60", "timeout: 90", 1))
		s.Fails(t, ui.Done, []string{"task", "apply", "-f", file}, `warning: task "a": timeout has`+why+"it in that queue")
	})
}

// While the queue's table is locked, why says who holds it, and does not doubt the login.
func TestWhyOfALockedQueueOnPostgres(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": migrated.New(t, storetest.Postgres).URL}}
	config, d := withRiver(t, s)
	s.Env["NEXTRUN_CONFIG"] = config
	s.Exec(t, `INSERT INTO periodic_task (id, task, timer, sink, created) VALUES ('a', 'report', 'hourly', 'river', '2026-01-01 00:00')`)
	s.Must(t, "task", "run", "a")
	s.Must(t, "scheduler", "--once")
	s.Exec(t, `UPDATE periodic_task SET due = '2026-01-01', nextrun = '2026-01-01'`)
	s.Exec(t, `UPDATE periodic_task SET since = '2026-01-01'`)
	tx, err := d.SQL.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() // it ends the lock
	if _, err := tx.Exec("LOCK TABLE river_job"); err != nil {
		t.Fatal(err)
	}
	text := s.Must(t, "why", "a")
	if !strings.Contains(text, `Its queue "river" cannot be asked now: the database is busy`) ||
		!strings.Contains(text, "the table river_job is locked by pid ") || strings.Contains(text, "login") {
		t.Errorf("why says:\n%s", text)
	}
}

// What the command line submits reaches the task's queue, and nothing else does.
func TestTaskOfAQueueIsRun(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config, d := withRiver(t, s)
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, args, sink, enabled, overlap, created)
			VALUES ('off', 'report', 'hourly', '{"n": 1}', 'river', false, 'allow', '2026-01-01 00:00'), ('on', 'report', 'hourly', '{"n": 2}', 'river', true, 'skip', '2026-01-01 00:00')`)
		past := []string{"task", "backfill", "off", "--from", "2026-03-01 00:30", "--to", "2026-03-01 03:30"}
		s.Says(t, ui.Failed, "task run off", noQueue)
		s.Fails(t, ui.Failed, past, noQueue)
		d.Want(0, "SELECT (SELECT count(*) FROM periodic_tick) + (SELECT count(*) FROM river_job) + (SELECT count(*) FROM job)")

		clitest.WantLines(t, s.Must(t, "task", "run", "off", "--config", config), "off: river ")
		clitest.WantLines(t, s.Must(t, append(past, "--config", config)...), "submitted: 3, already had jobs: 0")
		clitest.WantLines(t, s.Must(t, append(past, "--config", config)...), "submitted: 0, already had jobs: 3")
		d.Want(4, `SELECT count(*) FROM river_job WHERE kind = 'report'`)

		s.Must(t, "task", "run", "on", "--config", config)
		d.Want(5, `SELECT count(*) FROM river_job`)
		d.Want(0, `SELECT count(*) FROM job`)
		d.Want("submitted", `SELECT decision FROM periodic_tick WHERE task_id = 'on'`)
	})
}

// A scheduler without the queue says so in the task, and loses no tick silently.
func TestTaskOfAQueueThatNobodyHas(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config, d := withRiver(t, s)
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, sink) VALUES ('a', 'report', 'hourly', 'river')`)
		s.Must(t, "scheduler", "--once")
		list := s.Must(t, "task", "list", "--state", "problem")
		if !strings.Contains(list, `sink "river": the scheduler has no queue of that name`) {
			t.Errorf("the list:\n%s", list)
		}
		s.Must(t, "task", "set", "a", "--sink", "river", "--summary", "again", "--config", config)
		s.Must(t, "scheduler", "--once", "--config", config)
		s.Says(t, ui.Done, "task list --state problem", "none of that kind\n")
		s.Says(t, ui.Failed, "task run a", noQueue)
		d.Want(0, "SELECT count(*) FROM job")
	})
}
