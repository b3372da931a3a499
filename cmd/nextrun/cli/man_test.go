package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// commandsOf are the paths of all commands, as the help texts list them.
func commandsOf(t *testing.T, path []string) (list []string) {
	t.Helper()
	list = append(list, strings.Join(append([]string{"nextrun"}, path...), "-"))
	_, below, _ := strings.Cut(clitest.Shell{}.Must(t, append(slices.Clone(path), "--help")...), "\nCommands:\n")
	below, _, _ = strings.Cut(below, "\n\nFlags:")
	for line := range strings.SplitSeq(below, "\n") {
		if words := strings.Fields(line); strings.HasPrefix(line, "  ") && len(words) > 1 {
			list = append(list, commandsOf(t, append(slices.Clone(path), words[0]))...)
		}
	}
	return list
}

// Every command has a manual page, which man formats without a complaint.
func TestManualPages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man1")
	out := clitest.Shell{}.Must(t, "man", dir)
	commands := commandsOf(t, nil)
	if len(commands) < 50 || !slices.Contains(commands, "nextrun-task-add") {
		t.Fatalf("the help texts list only %q", commands)
	}
	for _, command := range commands {
		text, err := os.ReadFile(filepath.Join(dir, command+".1"))
		if err != nil {
			t.Error(err)
			continue
		}
		page := string(text)
		for _, want := range []string{".TH \"" + strings.ToUpper(command) + "\" \"1\"", ".SH NAME", ".SH SYNOPSIS"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %q:\n%s", command, want, page)
			}
		}
		if strings.Contains(page, "spf13") {
			t.Errorf("%s names the library", command)
		}
		format(t, filepath.Join(dir, command+".1"))
	}
	page := strings.ReplaceAll(format(t, filepath.Join(dir, "nextrun-task-add.1")), "\u2010", "-")
	if page != "" && !strings.Contains(page, "nextrun task add nightly-backup --task backup --timer '*-*-* 02:00 Europe/Berlin'") &&
		!strings.Contains(page, "--timer '*-*-* 02:00 Europe/Berlin'") {
		t.Errorf("the example has changed in\n%s", page)
	}
	clitest.WantLines(t, out, "wrote ")
	clitest.Shell{}.Fails(t, ui.WrongUsage, []string{"man"}, "missing argument DIR")
	clitest.Shell{}.Fails(t, ui.Failed, []string{"man", filepath.Join(dir, "nextrun.1")}, "not a directory")
}

// format formats a page with groff, if there is one, which must have no warnings.
func format(t *testing.T, path string) string {
	t.Helper()
	groff, err := exec.LookPath("groff")
	if err != nil {
		return ""
	}
	var warnings strings.Builder
	command := exec.CommandContext(t.Context(), groff, "-man", "-Tutf8", "-ww", "-P-cbou", path)
	command.Stderr = &warnings
	out, err := command.Output()
	if err != nil || warnings.Len() > 0 || len(out) < 100 {
		t.Errorf("%s: %v, %s", path, err, warnings.String())
	}
	return string(out)
}
