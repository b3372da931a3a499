package cli_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// Only the help text of the program explains the flags of all commands; an error says where the help is, without writing it all.
func TestHelpIsShort(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{}
	s.Says(t, ui.Done, "task set --help", "Flags of all commands, such as --db and --config: nextrun --help",
		"! NEXTRUN_CONFIG", "! Global Flags", "! default skip", `! (default "nextrun")`, "! default 60", "! default none", "! true|false")
	s.Says(t, ui.Done, "--help", "--config file configuration file (NEXTRUN_CONFIG)")
	s.Says(t, ui.Done, "task add --help", "--overlap skip|queue|replace|allow what to do while the task's last job has not ended (default skip)")
	s.Says(t, ui.WrongUsage, "task add", "! Flags:")
	for _, group := range []string{"task", "job"} {
		if a, b := s.Must(t, "help", group), s.Must(t, group, "--help"); a != b {
			t.Errorf("help %s is\n%s\n%s --help is\n%s", group, a, group, b)
		}
	}
	for _, list := range []string{"task list", "tick list", "job list", "event list", "next", "preview"} {
		s.Says(t, ui.Done, list+" --help", "-n, --limit int")
	}
	if flag, command := s.Must(t, "--version"), s.Must(t, "version"); flag != command || !strings.HasPrefix(command, "nextrun version ") {
		t.Errorf("--version says %q, version says %q", flag, command)
	}
}

// The program alone shows its commands in four groups, in 80 columns, and that is no mistake.
func TestHelpOfTheProgramHasGroups(t *testing.T) {
	t.Parallel()
	help := clitest.Shell{}.Must(t)
	at := -1
	for _, group := range []string{"\nRun:\n", "\nLook:\n", "\nChange:\n", "\nOperate:\n", "\nFlags:\n"} {
		next := strings.Index(help, group)
		if next <= at {
			t.Errorf("%q is missing, or not in its place:\n%s", group, help)
		}
		at = next
	}
	commands, _, _ := strings.Cut(help, "\nFlags:\n")
	for line := range strings.Lines(commands) {
		if len(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
	if strings.Contains(help, "\nCommands:\n") || help != (clitest.Shell{}).Must(t, "--help") {
		t.Errorf("a command has no group, or --help says something else:\n%s", help)
	}
}

// Lists of what has happened can be cut at both ends, by ages, days by name and dates in the zone of --zone, and to a number of rows.
func TestListsOfAPeriod(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{}
	const next = "next daily -n 1 --after '2026-03-28 08:59'"
	s.Says(t, ui.Done, next+" --zone Asia/Tokyo", "2026-03-28 09:00:00 JST")
	s.Says(t, ui.Done, "--zone Asia/Tokyo "+next, "2026-03-28 09:00:00 JST")
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		for _, day := range []string{"01", "02", "03"} {
			at := "2026-03-" + day + " 00:00:00.000000"
			s.Exec(t, `INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('a', '`+at+`', 'skipped', '`+at+`')`)
			s.Exec(t, `INSERT INTO job (jid, task, submitted) VALUES ('j`+day+`', 'x', '`+at+`')`)
			s.Exec(t, `INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, created) VALUES ('e`+day+`', 't', 'y', 'a', `+day+`, '`+at+`')`)
		}
		rows := func(want int, args string) {
			t.Helper()
			var found []struct{}
			if s.JSON(t, &found, strings.Fields(args)...); len(found) != want {
				t.Errorf("%s: %d rows, want %d", args, len(found), want)
			}
		}
		for _, list := range []string{"tick list ", "job list ", "event list "} {
			for args, want := range map[string]int{
				"": 3, "--since 2026-03-02": 2, "--until 2026-03-02": 1, "--since 2026-03-02 --until 2026-03-03T00:00Z": 1,
				"--zone Europe/Berlin --since 2026-03-02 --until 2026-03-03": 1, "--until yesterday": 3, "--since 1h": 0,
			} {
				rows(want, list+args)
			}
			s.Says(t, ui.WrongUsage, list+"--since 1h --until '2 h'", "--until 2 h is not later than --since 1h", "counts back from now")
		}
	})
}
