package check_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestCheckOfWhatIsGood(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "a", "--handler", "echo", "--timer", "daily")
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {echo: {command: [echo]}}\n")
		report := s.Must(t, "check", "--config", config)
		clitest.WantLines(t, report, "ok configuration "+config+": handlers: 1", "ok database ", "ok schema of this version, and complete",
			"ok tasks 1, no problems found")
		if sqlite := strings.HasPrefix(s.Env["NEXTRUN_DB"], "sqlite:"); strings.Contains(report, "before 3.51.3") != sqlite {
			t.Errorf("the report of %s:\n%s", s.Env["NEXTRUN_DB"], report)
		} else if !sqlite {
			clitest.WantLines(t, report, "ok postgres server 1") // 13 to 19
		}
	})
}

func TestCheckTellsErrorsFromWarnings(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "past", "--handler", "echo", "--timer", "2020-01-01")
		s.Must(t, "task", "add", "strange", "--handler", "other", "--timer", "daily")
		s.Must(t, "task", "add", "off", "--handler", "other", "--timer", "2020-01-01", "--disabled")
		good := clitest.WriteFile(t, "good.yaml", "handlers: {echo: {command: [echo]}}\n")
		report := s.Must(t, "check", "--config", good) // warnings alone are no failure
		clitest.WantLines(t, report, "warning task past timer \"2020-01-01\" never elapses", "warning task strange ")
		if strings.Contains(report, "task off") {
			t.Errorf("a disabled task is reported:\n%s", report)
		}
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('broken', 'echo', 'every 0s')`)
		bad := clitest.WriteFile(t, "bad.yaml", "executors: {}\nscheduler: {lease: 0s}\n")
		r := s.Fails(t, ui.Changes, []string{"check", "--config", bad}, "errors: 3, warnings: 1")
		clitest.WantLines(t, r.Stdout, "error configuration "+bad+":1: unknown key", "error configuration "+bad+":2: scheduler.lease",
			"error task broken timer \"every 0s\"")
		s.Fails(t, ui.Failed, []string{"check", "--config", filepath.Join(t.TempDir(), "none.yaml")}, "errors: 2")
	})
}

func TestCheckHasThePackagesLookAtTheirSections(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config := clitest.WriteFile(t, "nextrun.yaml", "scheduler: {retry_min: 5s, retry_max: 1s}\n")
		r := s.Fails(t, ui.Changes, []string{"check", "--config", config}, "errors: 1")
		clitest.WantLines(t, r.Stdout, "error configuration "+config+":1: scheduler.retry_max must be a duration from retry_min (5s) to ")
	})
}

func TestCheckJSON(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		var findings []struct{ Level, About, Text string }
		s.JSON(t, &findings, "check")
		if len(findings) < 4 || findings[0].Level != "ok" || findings[0].About != "configuration" {
			t.Errorf("got %+v", findings)
		}
	})
}

func TestCheckMissesPrograms(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers:\n  a: {command: [no-such-program]}\n  b: {command: [./run], dir: /usr/bin}\n  c: {command: [./env], dir: /usr/bin}\n")
		report := s.Must(t, "check", "--config", config)
		clitest.WantLines(t, report, "warning handler a there is no program no-such-program here", "warning handler b")
		if strings.Contains(report, "handler c") {
			t.Errorf("a program that is there:\n%s", report)
		}
	})
}

// An error in building a section is reported once, together with those of the file.
func TestCheckNamesTheFileOnce(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {a: {http: {url: 'http://x', header_env: {token: NOT_SET}}}}\n")
		r := s.Fails(t, ui.Changes, []string{"check", "--config", config}, "errors: 1")
		if strings.Count(r.Stdout, config+": handlers.a: ") != 1 || strings.Contains(r.Stdout, config+": "+config) {
			t.Errorf("the report:\n%s", r.Stdout)
		}
	})
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
		clitest.WantLines(t, s.Must(t, "check"), "warning docspell its executors write times that are 1 h off from UTC")
		begin("b", "joex1", "2026-02-22 01:00:02.123000", "1771722002123") // since then in UTC
		begin("c", "host@0123456789ab", "2026-02-22 07:00:00.000000", "1771722002125")
		begin("d", "joex1", "1970-01-01 00:00:00.000000", "1771722002126") // of no zone
		if report := s.Must(t, "check"); strings.Contains(report, "docspell") {
			t.Errorf("the report:\n%s", report)
		}
	})
}

// On Docspell's database, check names what Docspell cannot read or run.
func TestCheckNamesWhatDocspellCannotRead(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "b/ü", "--handler", "backup", "--timer", "daily")
		s.Must(t, "task", "add", "good", "--handler", "empty-trash", "--timer", "*-*-* 02:00:00 +01:00")
		if out := s.Must(t, "check"); strings.Contains(out, "Docspell cannot") {
			t.Errorf("without Docspell check says:\n%s", out)
		}
		s.Exec(t, `CREATE TABLE node (id varchar(254), type varchar(254), url varchar(254))`)
		out := s.Must(t, "check")
		clitest.WantLines(t, out, `warning task b/ü Docspell cannot read id "b/ü"`, `warning task b/ü Docspell cannot read the timer "daily"`,
			`warning task b/ü Docspell 0.43 has no task "backup"`)
		if strings.Contains(out, "task good") {
			t.Errorf("check warns of a good task:\n%s", out)
		}
	})
}
