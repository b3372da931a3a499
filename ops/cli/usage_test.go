package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// Wrong usage gives exit code 2, names what is wrong, and says how to go on.
func TestWrongUsage(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"taks":                           {`unknown command "taks"`, "did you mean task", "See: nextrun --help"},
		"zzz":                            {`unknown command "zzz"`, "use one of check, dashboard, "},
		"postgres://u@h/d?password=hush": {"the first argument is no command", "--db", "! hush"},
		"task":                           {"missing command", "list", "See: nextrun task --help"},
		"task lst":                       {"did you mean list"},
		"task list extra":                {`unexpected argument "extra"`, "See: nextrun task list --help"},
		"task list --bogus":              {"--bogus", "See: nextrun task list --help"},
		"task show":                      {"missing argument ID"},
		"task add a --handler echo":      {"--timer"},
		"task add a --timer daily":       {"--handler"},
		"task add a --handler e --timer daily --overlap maybe": {"--overlap", "use one of skip, queue, replace, allow"},
		"task add a --handler e --timer daily --grace 1.5s":    {"--grace", "whole seconds"},
		"task add a --handler e --timer daily --starts soon":   {"--starts", "use a time from now such as 2h", "or none"},
		"task set a":                                 {"nothing to change"},
		"run":                                        {`unknown command "run"; did you mean nextrun task run?`},
		"task import crontab":                        {`unknown command "import"; did you mean nextrun import?`},
		"import crontab a b":                         {"accepts at most 1 arg"},
		"why t --at teatime":                         {"--at", "2026-03-28 14:30"},
		"tick list --decision lost":                  {"use one of submitted, skipped"},
		"tick list --since soon":                     {"use an age such as"},
		"next":                                       {"missing argument 'TIMER'"},
		"next daily -n 0":                            {"-n is 0; use 1 to 10000"},
		"next daily -n abc":                          {`invalid argument "abc" for "-n, --limit" flag: use a whole number`},
		"next daily --after 1960-01-01":              {"--after", "from 1970 on"},
		"next daily --zone Europe/Berln":             {`unknown time zone "Europe/Berln"; did you mean "Europe/Berlin"?`},
		"next 'Mon *-*-* 25:00'":                     {"Mon *-*-* 25:00 ^"},
		"migrate":                                    {"missing command", "up"},
		"scheduler --mode monarchy":                  {"use one of shared, leader, exclusive"},
		"executor --mode shared":                     {"--mode"},
		"check --log-format xml":                     {"use one of text, json"},
		"check --guarantees --since soon":            {"use"},
		"check --guarantees --strict":                {"--strict does not go with --guarantees"},
		"check --timeout soon":                       {`invalid argument "soon" for "--timeout" flag: use a duration such as 90s or 10m`},
		"job submit":                                 {"missing argument HANDLER"},
		"job submit a --args {":                      {"--args is not JSON"},
		"job submit a --at soon":                     {"use a time from now such as 2h"},
		"job list --state sleeping":                  {"use one of waiting, scheduled, running"},
		"job list -n 0":                              {"use 1 or more"},
		"job prune":                                  {"--older-than 30d"},
		"job prune --older-than old":                 {"use an age such as 2h or 3d"},
		"job prune --older-than 1d --state retrying": {"have not ended"},
		"job limit group":                            {"missing argument NAME NUMBER"},
		"job limit worker a 1":                       {`"worker" cannot be limited; use group, handler or task`},
		"job limit group a many":                     {`the limit is "many"; use a number, 0 for a pause, or none`},
		"job limit group a -- -3":                    {`the limit is "-3"; use a number`},
		"job limit group a 1 none":                   {`unexpected argument "none"`},
	} {
		if r := (clitest.Shell{}).Says(t, ui.WrongUsage, line, want...); r.Stdout != "" {
			t.Errorf("%s: standard output is not empty: %s", line, r.Stdout)
		}
	}
}

// What the name of the command says is not said again in its message, and one of what can be done is enough.
func TestMessagesSayItOnce(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": storetest.SQLiteURL(t)}}
	s.Must(t, "migrate", "up")
	s.Exec(t, "INSERT INTO periodic_task (id, task, timer) VALUES ('nightly-backup', 'x', 'yearly'), ('nightly-report', 'x', 'yearly'), ('weekly', 'x', 'yearly')")
	jid := s.Submit(t, "t")
	s.Submit(t, "t", "--task", "x", "--single")
	none, text := filepath.Join(t.TempDir(), "none"), clitest.WriteFile(t, "text", strings.Repeat("this is no database\n", 99))
	s.Says(t, ui.Done, "why Week", "weekly")
	s.Says(t, ui.Done, "why backup", "nightly-backup")
	for _, test := range []struct{ command, flags, want string }{
		{"job cancel x", "", `nextrun job cancel: job "x": not found; see: nextrun job list`},
		{"job log", "--last nobody", `nextrun job log: task "nobody": not found; see: nextrun task list`},
		{"job retry " + jid, "", "nextrun job retry: job " + jid + ": the job has not ended yet"},
		{"job submit t", "--task x --single", "nextrun job submit: job "},
		{"job submit t", "--single", "nextrun job submit: --single needs a --task"},
		{"why nightly", "", "nextrun why: task \"nightly\": several ids are like that; add a few characters:\n  nightly-backup  yearly\n  nightly-report  yearly\n"},
		{"why nobody", "", `nextrun why: task "nobody": not found; see: nextrun task list`},
		{"task add weekly", "--handler t --timer daily", `nextrun task add: task "weekly": exists already; change it with: nextrun task set`},
		{"event resend x", "", `nextrun event resend: event "x": not found; see: nextrun event list`},
		{"serve", "--config " + none, "nextrun serve: start failed at configuration: open " + none + ": no such file"},
		{"task list", "--db sqlite:" + none, "nextrun task list: open sqlite:" + none + ": there is no such file; run: nextrun migrate up --db sqlite:" + none},
		{"task list", "--db sqlite:" + text, "nextrun task list: open sqlite:" + text + ": the file is not a SQLite database"},
	} {
		r := s.Run(t.Context(), strings.Fields(test.command+" "+test.flags)...)
		if r.Exit == 0 || !strings.HasPrefix(r.Stderr, test.want) || strings.Count(r.Stderr, "; see: ") > 1 {
			t.Errorf("%s %s: exit code %d, %s", test.command, test.flags, r.Exit, r.Stderr)
		}
	}
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
	clitest.Shell{}.Says(t, ui.Done, "task list --db-file "+file, " here ")
	clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "mysql://"}}.Says(t, ui.Done, "task list --db-file "+file, " here ")
	clitest.Shell{Env: map[string]string{"NEXTRUN_DB": named + "\n"}}.Says(t, ui.Done, "task list", " here ") // of a secret that ends a line
	other := "sqlite:" + filepath.Join(t.TempDir(), "other.db")
	s.Says(t, ui.Failed, "task list --db "+other, "other.db")

	s.Env["NEXTRUN_DB"] = other
	s.Says(t, ui.WrongUsage, "task list", "NEXTRUN_DB and NEXTRUN_DB_FILE are both set")
	s.Says(t, ui.WrongUsage, "task list --db "+other+" --db-file "+file, "--db and --db-file are both set")
	for content, want := range map[string]string{
		"# nothing yet\n": "is empty", "postgres://u:s3cret@h/a\npostgres://u:s3cret@h/b\n": "several lines", "mysql://u:s3cret@h/a": "postgres://USER:PASSWORD@HOST",
	} {
		clitest.Shell{}.Says(t, ui.Failed, "serve --db-file "+clitest.WriteFile(t, "database", content), want, "! s3cret")
	}
	const unreachable = "postgres://user:hush@127.0.0.1:1/db"
	for line, exit := range map[string]int{unreachable: ui.WrongUsage, "task list " + unreachable: ui.WrongUsage, "scheduler --db " + unreachable: ui.Failed} {
		clitest.Shell{}.Says(t, exit, line, "! hush")
	}
	clitest.Shell{}.Says(t, ui.Failed, "task list --db mysql://user:hush@h/db", "postgres://USER:PASSWORD@HOST", "! hush")
	clitest.Shell{}.Says(t, ui.Failed, "task list --db foo.db", "did you mean sqlite:foo.db?")
	clitest.Shell{}.Says(t, ui.Failed, "task list --db-file no-such-file", "read the URL of the database", "no-such-file")
}
