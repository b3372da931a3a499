package own_test

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/bench/internal/own"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// small measures as little as can be.
var small = []string{"--rounds", "1", "--tasks", "20", "--jobs", "30", "--ticks", "1"}

// It measures everything, and then the database is as it was, with the rows of its user.
func TestOwn(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('mine', 'backup', 'yearly')`)
		s.Submit(t, "backup")
		var report struct {
			Database, Version string
			Settings          map[string]string
			Rounds            int
			Figures           []struct {
				Name, Unit  string
				Ours, Plain *struct{ Median, Least, Most float64 }
				Share       float64
			}
			Left []string
		}
		s.Program = own.Run
		s.JSON(t, &report, small...)
		if report.Database == "" || report.Version == "" || len(report.Settings) < 2 || report.Rounds != 1 || len(report.Left) != 0 {
			t.Errorf("report: %+v", report)
		}
		if report.Database == "SQLite" && report.Settings["synchronous"] != "full" {
			t.Errorf("settings: %v, want those of the connection that writes", report.Settings)
		}
		if len(report.Figures) != 10 {
			t.Errorf("%d figures, want 10", len(report.Figures))
		}
		for _, f := range report.Figures {
			if f.Ours == nil && f.Plain == nil || f.Ours != nil && (f.Ours.Median <= 0 || f.Ours.Least > f.Ours.Most) || f.Plain != nil && f.Plain.Median <= 0 {
				t.Errorf("figure %+v", f)
			}
		}
		wantNothingLeft(t, s)
		d := storetest.At(t, s.Env["NEXTRUN_DB"])
		d.Want(1, "SELECT count(*) FROM periodic_task")
		d.Want(1, "SELECT count(*) FROM job")
		d.Want(0, "SELECT count(*) FROM periodic_tick")
	})
}

// Control-C ends it, and nothing is left over.
func TestOwnEndsCleanly(t *testing.T) {
	t.Parallel()
	clitest.OnBoth(t, func(t *testing.T, s clitest.Shell) {
		s.Program = own.Run
		run := s.Start(t, append(slices.Clone(small), "--ticks", "600")...)
		run.WaitFor("every second, by plain SQL")
		run.Stop()
		run.WaitFor("ended before all was measured")
		if exit := <-run.Exit; exit != ui.Failed {
			t.Errorf("exit code %d", exit)
		}
		wantNothingLeft(t, s)
	})
}

// A run that takes too long says so.
func TestOwnTimeout(t *testing.T) {
	t.Parallel()
	clitest.OnBoth(t, func(t *testing.T, s clitest.Shell) {
		s.Program = own.Run
		s.Fails(t, ui.Failed, append(slices.Clone(small), "--ticks", "600", "--timeout", "6"), "did not end within the timeout of 6s", "raise the timeout")
		wantNothingLeft(t, s)
	})
}

// What a run that was killed has left is named by the next one, and removed on request. What is named alike is not.
func TestOwnAfterCrash(t *testing.T) {
	t.Parallel()
	const left, other = "nextrun_bench_20260102_030405_0a1b2c3d", "nextrun_bench_of_mine"
	clitest.OnBoth(t, func(t *testing.T, s clitest.Shell) {
		s.Program = own.Run
		path, isFile := strings.CutPrefix(s.Env["NEXTRUN_DB"], "sqlite:")
		if isFile {
			for _, name := range []string{left, left + "-wal", other} {
				if err := os.WriteFile(path+"."+name, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		} else {
			s.Exec(t, "CREATE SCHEMA "+left)
			s.Exec(t, "CREATE TABLE "+left+".job (jid text)")
			s.Exec(t, "CREATE SCHEMA "+other)
		}
		r := s.Run(t.Context(), small...)
		if r.Exit != ui.Done || !strings.Contains(r.Stderr, left) || !strings.Contains(r.Stderr, "with --clean") || strings.Contains(r.Stderr, other) {
			t.Errorf("exit code %d:\n%s", r.Exit, r.Stderr)
		}
		if out := s.Must(t, "--clean"); out != "removed "+left+"\n" {
			t.Errorf("--clean says %q", out)
		}
		if out := s.Must(t, "--clean"); out != "nothing is left over\n" {
			t.Errorf("a second --clean says %q", out)
		}
		if isFile {
			if found, _ := filepath.Glob(path + ".*"); len(found) != 1 || found[0] != path+"."+other {
				t.Errorf("files: %v", found)
			}
			return
		}
		storetest.At(t, s.Env["NEXTRUN_DB"]).Want(1, "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'nextrun_bench%'")
	})
}

// A role that may not create schemas learns which right it lacks.
func TestOwnNeedsRight(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	name := strings.ToLower(d.One("SELECT current_database()")) + "_reader"
	d.Exec("CREATE ROLE " + name + " LOGIN PASSWORD 'secret'")
	t.Cleanup(func() { d.Exec("DROP ROLE " + name) })
	as, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	as.User = url.UserPassword(name, "secret")
	s := clitest.Shell{Program: own.Run, Env: map[string]string{"NEXTRUN_DB": as.String()}}
	s.Fails(t, ui.Failed, small, "may not create schemas in the database", "GRANT CREATE ON DATABASE")
}

// No error shows a password, also that of a URL which cannot be read.
func TestOwnShowsNoPassword(t *testing.T) {
	t.Parallel()
	as, err := url.Parse(storetest.PostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	as.User = url.UserPassword("somebody", "hush")
	for _, address := range []string{
		as.String(), "postgres://user:hu sh@host/db", "postgres://user:12/hush@host/db", "sqlite:user:hush@host", "sqlite:pwd=hush", "mysql://user:hush@host/db",
	} {
		for _, flags := range [][]string{small, {"--clean"}} {
			s := clitest.Shell{Program: own.Run, Env: map[string]string{"NEXTRUN_DB": address}}
			if r := s.Fails(t, ui.Failed, flags); strings.Contains(r.Stdout+r.Stderr, "hush") || r.Stderr == "" {
				t.Errorf("%q says:\n%s", flags, r.Stdout+r.Stderr)
			}
		}
	}
}

func TestOwnUsage(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Program: own.Run, Env: map[string]string{"NEXTRUN_DB": "sqlite:" + filepath.Join(t.TempDir(), "q.db")}}
	s.Fails(t, ui.WrongUsage, []string{"--tasks", "100001"}, "--tasks", "from 1 to 100000")
	s.Fails(t, ui.WrongUsage, []string{"--rounds", "0"}, "--rounds", "from 1 to 100")
	s.Fails(t, ui.WrongUsage, []string{"now"}, "unexpected argument")
}

func wantNothingLeft(t *testing.T, s clitest.Shell) {
	t.Helper()
	if path, ok := strings.CutPrefix(s.Env["NEXTRUN_DB"], "sqlite:"); ok {
		if found, _ := filepath.Glob(path + ".*"); len(found) > 0 {
			t.Errorf("left over: %v", found)
		}
		return
	}
	storetest.At(t, s.Env["NEXTRUN_DB"]).Want(0, "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'nextrun_bench%'")
}
