package cli_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// Only the help text of the program explains the flags of all commands.
func TestHelpIsShort(t *testing.T) {
	t.Parallel()
	help := clitest.Shell{}.Must(t, "task", "set", "--help")
	for _, unwanted := range []string{"NEXTRUN_CONFIG", "Global Flags", "default skip", "(default \"nextrun\")", "default 60", "default none", "true|false"} {
		if strings.Contains(help, unwanted) {
			t.Errorf("task set --help has %q:\n%s", unwanted, help)
		}
	}
	clitest.WantLines(t, help, "Flags of all commands, such as --db and --config: nextrun --help")
	clitest.Shell{}.Says(t, ui.Done, "--help", "--config file configuration file (NEXTRUN_CONFIG)")
	clitest.Shell{}.Says(t, ui.Done, "task add --help", "--overlap skip|queue|replace|allow what to do while the task's last job has not ended (default skip)")
	for _, group := range []string{"task", "job"} {
		if a, b := (clitest.Shell{}).Must(t, "help", group), (clitest.Shell{}).Must(t, group, "--help"); a != b {
			t.Errorf("help %s is\n%s\n%s --help is\n%s", group, a, group, b)
		}
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

// An error says where the help is, without writing it all.
func TestHelpIsNotWrittenOnErrors(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	cli.Run(t.Context(), []string{"task", "add"}, io.MultiReader(), &stdout, &stderr, func(string) string { return "" })
	if stdout.Len() > 0 || strings.Contains(stderr.String(), "Flags:") {
		t.Errorf("%s%s", stdout.String(), stderr.String())
	}
}
