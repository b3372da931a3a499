package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// Wrong usage gives exit code 2, names what is wrong, and says how to go on.
func TestWrongUsage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args string
		want []string
	}{
		{"taks", []string{`unknown command "taks"`, "did you mean task", "See: nextrun --help"}},
		{"zzz", []string{`unknown command "zzz"`, "use one of check, dashboard, "}},
		{"help zzz", []string{"zzz"}},
		{"task", []string{"missing command", "list", "See: nextrun task --help"}},
		{"task lst", []string{"did you mean list"}},
		{"task list extra", []string{`unexpected argument "extra"`, "See: nextrun task list --help"}},
		{"task list --bogus", []string{"--bogus", "See: nextrun task list --help"}},
		{"task show", []string{"missing argument ID"}},
		{"task rm", []string{"missing argument ID"}},
		{"task add a --handler echo", []string{"--timer"}},
		{"task add a --timer daily", []string{"--handler"}},
		{"task add a --handler e --timer daily --overlap maybe", []string{"--overlap", "use one of skip, queue, replace, allow"}},
		{"task add a --handler e --timer daily --grace 1.5s", []string{"--grace", "whole seconds"}},
		{"task add a --handler e --timer daily --grace -1", []string{"--grace", "whole seconds"}},
		{"task add a --handler e --timer daily --grace none", []string{"--grace", "whole seconds"}},
		{"task add a --handler e --timer daily --starts soon", []string{"--starts", "use a time from now such as 2h", "or none"}},
		{"task set a", []string{"nothing to change"}},
		{"task add a --handler e --timer daily --sink", []string{"--sink"}},
		{"task import crontab", []string{`unknown command "import"; did you mean nextrun import?`}},
		{"import crontab a b", []string{"accepts at most 1 arg"}},
		{"next", []string{"missing argument 'TIMER'"}},
		{"next daily -n 0", []string{"-n is 0; use 1 to 10000"}},
		{"next daily -n many", []string{`"many"`}},
		{"next daily -n abc", []string{`invalid argument "abc" for "-n, --limit" flag: use a whole number`}},
		{"next daily --after none", []string{"--after"}},
		{"next daily --after 1960-01-01", []string{"--after", "from 1970 on"}},
		{"next daily hourly", []string{`unexpected argument "hourly"`}},
		{"migrate", []string{"missing command", "up"}},
		{"migrate sideways", []string{`unknown command "sideways"`}},
		{"scheduler --mode monarchy", []string{"use one of shared, leader, exclusive"}},
		{"check --log-format xml", []string{"use one of text, json"}},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			r := clitest.Shell{}.Fails(t, ui.WrongUsage, strings.Fields(test.args), test.want...)
			if r.Stdout != "" {
				t.Errorf("standard output is not empty: %s", r.Stdout)
			}
		})
	}
}

func TestBadTimerShowsThePlace(t *testing.T) {
	t.Parallel()
	want := "  Mon *-*-* 25:00\n            ^"
	clitest.Shell{}.Says(t, ui.WrongUsage, "next 'Mon *-*-* 25:00'", "25", want)
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.WrongUsage, "task add a --handler e --timer 'Mon *-*-* 25:00'", "25", want)
		s.Says(t, ui.Done, "task list", "none; ")
	})
}

func TestVariablesStandInForFlags(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "sqlite:" + filepath.Join(t.TempDir(), "a.db"), "NEXTRUN_MODE": "monarchy"}}
	s.Says(t, ui.WrongUsage, "scheduler", "NEXTRUN_MODE", "use one of shared, leader, exclusive")
	s.Env["NEXTRUN_CONFIG"] = filepath.Join(t.TempDir(), "none.yaml")
	s.Says(t, ui.Failed, "scheduler --mode shared", "none.yaml")
	given := filepath.Join(t.TempDir(), "b.db")
	s.Must(t, "migrate", "up", "--db", "sqlite:"+given)
	if _, err := os.Stat(given); err != nil {
		t.Errorf("--db does not go before NEXTRUN_DB: %v", err)
	}
}

// A file may hold the URL, so that its password is in no variable. Two answers to the
// same question are refused, and no error shows what the file holds.
func TestURLFromAFile(t *testing.T) {
	t.Parallel()
	named := "sqlite:" + filepath.Join(t.TempDir(), "named.db")
	file := clitest.WriteFile(t, "database", "# of production\n\n  "+named+"\n")
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB_FILE": file}}
	s.Must(t, "migrate", "up")
	s.Must(t, "task", "add", "here", "--handler", "echo", "--timer", "daily")
	clitest.WantLines(t, clitest.Shell{}.Must(t, "task", "list", "--db-file", file), "here")
	clitest.WantLines(t, clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "mysql://"}}.Must(t, "task", "list", "--db-file", file), "here")
	other := "sqlite:" + filepath.Join(t.TempDir(), "other.db")
	s.Fails(t, ui.Failed, []string{"task", "list", "--db", other}, "other.db")

	s.Env["NEXTRUN_DB"] = other
	s.Says(t, ui.WrongUsage, "task list", "NEXTRUN_DB and NEXTRUN_DB_FILE are both set")
	s.Fails(t, ui.WrongUsage, []string{"task", "list", "--db", other, "--db-file", file}, "--db and --db-file are both set")
	for content, want := range map[string]string{
		"# nothing yet\n": "is empty", "postgres://u:s3cret@h/a\npostgres://u:s3cret@h/b\n": "several lines", "mysql://u:s3cret@h/a": "postgres://USER:PASSWORD@HOST",
	} {
		r := clitest.Shell{}.Run(t.Context(), "serve", "--db-file", clitest.WriteFile(t, "database", content))
		if r.Exit != ui.Failed || !strings.Contains(r.Stderr, want) || strings.Contains(r.Stdout+r.Stderr, "s3cret") {
			t.Errorf("of a file with %q: exit code %d, %s", content, r.Exit, r.Stderr)
		}
	}
	clitest.Shell{}.Says(t, ui.Failed, "task list --db-file no-such-file", "read the URL of the database", "no-such-file")
}

// No password shows, wherever it was typed.
func TestPasswordsAreNotShown(t *testing.T) {
	t.Parallel()
	const secret = "s3cret"
	unreachable := "postgres://user:" + secret + "@127.0.0.1:1/db"
	tests := []struct {
		env  string
		args []string
		exit int
	}{
		{unreachable, []string{"task", "list"}, ui.Failed},
		{unreachable, []string{"migrate", "up"}, ui.Failed},
		{unreachable, []string{"check"}, ui.Failed},
		{unreachable, []string{"scheduler"}, ui.Failed},
		{"postgres://user:" + secret + "@127.0.0.1:port/db", []string{"task", "list"}, ui.Failed},
		{"postgres://user:" + secret + "%zz@h/db", []string{"task", "list"}, ui.Failed},
		{"mysql://user:" + secret + "@h/db", []string{"check"}, ui.Failed},
		{"", []string{unreachable}, ui.WrongUsage},
		{"", []string{"task", "list", unreachable}, ui.WrongUsage},
		{unreachable, []string{"--help"}, ui.Done},
	}
	for _, test := range tests {
		s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": test.env}}
		r := s.Run(t.Context(), test.args...)
		if r.Exit != test.exit {
			t.Errorf("%v on %s: exit code %d, want %d\n%s", test.args, test.env, r.Exit, test.exit, r.Stderr)
		}
		if strings.Contains(r.Stdout+r.Stderr, secret) {
			t.Errorf("%v on %s shows the password:\n%s%s", test.args, test.env, r.Stdout, r.Stderr)
		}
	}
}

// Advice is shown as it is written: it holds no password.
func TestAdviceIsNotRedacted(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{}}
	s.Says(t, ui.Failed, "task list --db mysql://user:hush@h/db", "postgres://USER:PASSWORD@HOST")
	s.Says(t, ui.Failed, "task list --db foo.db", "did you mean sqlite:foo.db?")
}

func TestVersionIsAlsoACommand(t *testing.T) {
	t.Parallel()
	flag, command := clitest.Shell{}.Must(t, "--version"), clitest.Shell{}.Must(t, "version")
	if flag != command || !strings.HasPrefix(command, "nextrun version ") {
		t.Errorf("--version says %q, version says %q", flag, command)
	}
}

// A command that only looks tells findings from what it could not look at.
func TestFindingsHaveAnExitCodeOfTheirOwn(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'x', 'nonsense')`)
		config := clitest.WriteFile(t, "nextrun.yaml", "queues: {river: {type: river}}\n")
		none := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "sqlite:" + filepath.Join(t.TempDir(), "none.db")}}
		for command, found := range map[string]bool{
			"check --config " + config: true, "next 2020-01-01": true,
			"check --guarantees": false, "migrate status": false, "next daily": false,
		} {
			args := strings.Fields(command)
			if !found {
				s.Must(t, args...)
				continue
			}
			s.Fails(t, ui.Changes, args)
			if args[0] != "next" {
				none.Fails(t, ui.Failed, args)
			}
		}
	})
}
