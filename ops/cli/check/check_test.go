package check_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

func TestCheckOfWhatIsGood(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, args)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
			SELECT 'task-' || i, 'echo', 'daily', '{}' FROM n`) // they are read page by page
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {echo: {command: [echo]}}\n")
		server := "ok postgres server 1" // 13 to 19
		if strings.HasPrefix(s.Env["NEXTRUN_DB"], "sqlite:") {
			server = "before 3.51.3"
		}
		s.Says(t, ui.Done, "check --config "+config, "ok configuration "+config+": handlers: 1", "ok database ", server, "ok schema of this version, and complete",
			"ok tasks 2500, no problems found")
	})
}

// What matters comes first: errors, then tasks that never run again. Warnings fail with --strict only, and a file that is
// not there is no finding. Changes of the clock are for nextrun next.
func TestCheckTellsErrorsFromWarnings(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, enabled) VALUES
			('a', 'echo', '02:30 Europe/Berlin', true), ('d', 'echo', '*/7 * * * *', true), ('e', 'echo', '2020-01-01', true),
			('strange', 'other', 'daily', true), ('off', 'other', '2020-01-01', false)`)
		good := clitest.WriteFile(t, "good.yaml", `handlers:
  echo: {command: [echo]}
  a: {command: [no-such-program]}
  c: {command: [./env], dir: /usr/bin}
`)
		s.Says(t, ui.Done, "check --config "+good, `warning task e Its timer "2020-01-01" never elapses`, "warning task strange ",
			"warning handler a there is no program no-such-program here", "! handler c", "! task off", "! (dst-")
		r := s.Says(t, ui.Changes, "check --strict --json --config "+good, "errors: 0, warnings: ")
		var findings []struct{ Level, About, Text string }
		clitest.Decode(t, r.Stdout, &findings)
		if len(findings) < 4 || findings[0].Level != "ok" || findings[0].About != "configuration" {
			t.Errorf("as JSON: %+v", findings)
		}
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('broken', 'echo', 'every 0s')`)
		bad := clitest.WriteFile(t, "bad.yaml", "executors: {}\nscheduler: {lease: 0s}\n")
		r = s.Says(t, ui.Changes, "check --config "+bad, "errors: 3, warnings: ", "error configuration "+bad+":1: unknown key", "error configuration "+bad+":2: scheduler.lease",
			`error task broken timer "every 0s"`)
		place := func(text string) int { return strings.Index(r.Stdout, text) }
		if e, never, uneven := place("task broken"), place("never elapses"), place("(uneven)"); e < 0 || never < e || uneven < never {
			t.Errorf("the order is wrong:\n%s", r.Stdout)
		}
		s.Says(t, ui.Failed, "check --config "+filepath.Join(t.TempDir(), "none.yaml"), "errors: ")
	})
}

// What several parts of a process would refuse is said once, with its place, beside other mistakes.
func TestCheckSaysEachThingOnce(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "sqlite:" + filepath.Join(t.TempDir(), "nextrun.db")}}
	s.Must(t, "migrate", "up")
	for file, want := range map[string]string{
		"handlers:\n  a: {command: ['true']}\non_failure: {url: '${OPS_HOOK}'}\n":    "OPS_HOOK",
		"handlers: {a: {http: {url: 'http://x', headers: {token: '${NOT_SET}'}}}}\n": ": handlers.a.http.headers.token: ",
		"queues: {boss: {type: pg-boss}}\n":                                          ": queues.boss: pg-boss: the database is SQLite",
		"queues: {boss: {type: pg-boss}, job: {notify: 'http://x/${NOT_SET}'}}\n":    ": queues.boss: pg-boss: the database is SQLite",
		"queues: {job: {notify: 'http://x/${NOT_SET}'}}":                             "queues.job.notify: the environment variable NOT_SET is not set",
	} {
		config := clitest.WriteFile(t, "nextrun.yaml", file)
		r := s.Says(t, ui.Changes, "check --config "+config, "error configuration "+config+": ")
		if strings.Count(r.Stdout, want) != 1 || strings.Contains(r.Stdout, config+": "+config) {
			t.Errorf("%q is not said once:\n%s", want, r.Stdout)
		}
	}
}

// Docspell writes the begin of a job in two columns, of which one knows no zone.
func TestCheckNoticesDocspellInAnotherZone(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		begin := func(jid, worker, started, millis string) {
			s.Exec(t, `INSERT INTO job (jid, task, state, worker, started, startedmillis)
				VALUES ('`+jid+`', 'convert', 'success', '`+worker+`', '`+started+`', `+millis+`)`)
		}
		begin("a", "joex1", "2026-02-22 01:00:02.123000", "1771718402123")
		s.Says(t, ui.Done, "check", "warning docspell its executors write times that are 1 h off from UTC")
		begin("b", "joex1", "2026-02-22 01:00:02.123000", "1771722002123") // since then in UTC
		begin("c", "host@0123456789ab", "2026-02-22 07:00:00.000000", "1771722002125")
		begin("d", "joex1", "1970-01-01 00:00:00.000000", "1771722002126") // of no zone
		s.Says(t, ui.Done, "check", "! docspell")
	})
}

// The database is asked about the SQL of handlers.
func TestCheckTriesStatements(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, "CREATE TABLE report (id integer, day text)")
		config := clitest.WriteFile(t, "nextrun.yaml", `handlers:
  misspelt: {sql: "DELETE FROM reprot WHERE day < :day"}
  second: {sql: ["DELETE FROM report WHERE id = :n", "INSERT INTO report (id, dya) VALUES (1, :day)"]}
  syntax: {sql: "DELETE FORM report"}
  good: {sql: ["DELETE FROM report WHERE id = :n AND day = :nextrun_due", "INSERT INTO report SELECT id, day FROM report", "SELECT 1"]}
  maker: {sql: ["CREATE TABLE monthly (id integer)", "INSERT INTO monthly VALUES (:n)"]}
`)
		s.Says(t, ui.Changes, "check --config "+config, "errors: 3", "error handler misspelt", "error handler second statement 2: ", "error handler syntax",
			"reprot", "dya", "FORM", "correct handlers.second in "+config, "! handler good", "! handler maker")
	})
}

// What a scheduler and an executor have done is in order; a tick that somebody deletes
// is missed, by name.
func TestGuarantees(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, sink) VALUES ('beat', 'happened', '*:*:*', 'event')`)
		scheduler := s.Start(t, "scheduler")
		for range 3 {
			scheduler.WaitFor("event written")
		}
		scheduler.Stop()
		<-scheduler.Exit
		s.Exec(t, `UPDATE periodic_task SET enabled = false WHERE id <> 'beat'`)
		s.Says(t, ui.Done, "check --guarantees", "checks: ")
		s.Exec(t, `DELETE FROM periodic_tick WHERE due = (SELECT due FROM periodic_tick WHERE task_id = 'beat' ORDER BY due LIMIT 1 OFFSET 1)`)
		s.Says(t, ui.Changes, "check --guarantees", "violations: 1, checks not done: 0")
		var report struct {
			Findings []struct {
				Level, Guarantee, Remedy string
				Rows                     []struct{ About, Detail string }
			}
			Undone []string
		}
		clitest.Decode(t, s.Run(t.Context(), "check", "--guarantees", "--json").Stdout, &report)
		if report.Undone == nil || len(report.Findings) != 1 || report.Findings[0].Level != "violation" || report.Findings[0].Guarantee != "G2" ||
			len(report.Findings[0].Rows) != 1 || report.Findings[0].Rows[0].About != "beat" || report.Findings[0].Remedy == "" {
			t.Errorf("check --guarantees --json: %+v", report)
		}
		s.Says(t, ui.WrongUsage, "check --guarantees --since soon", "use")
		s.Exec(t, `UPDATE nextrun_found SET name = 'made by 0123456789abcdef' WHERE name LIKE 'made by %'`)
		s.Says(t, ui.Failed, "check --guarantees", "made by another version of nextrun")
	})
}
