package transfer_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// A pipe that nobody writes to, a device and a loop of links hold up no import: named by
// the user they end it, in a directory they are refused, and the other files are read.
func TestImportOfWhatIsNoFile(t *testing.T) {
	t.Parallel()
	good := map[string]struct{ name, text string }{
		"crontab": {"good", "1 2 * * * root good\n"},
		"timer":   {"good.timer", "[Timer]\nOnCalendar=daily\n"},
		"cronjob": {"good.yaml", "kind: CronJob\nmetadata: {name: good}\nspec: {schedule: '0 0 * * *'}\n"},
	}
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for kind, file := range good {
			dir := t.TempDir()
			place := func(name string) string { return filepath.Join(dir, name+filepath.Ext(file.name)) }
			err := os.WriteFile(filepath.Join(dir, file.name), []byte(file.text), 0o600)
			if err == nil {
				err = syscall.Mkfifo(place("apipe"), 0o600)
			}
			if err == nil {
				err = os.Symlink(place("loop"), place("loop"))
			}
			if err == nil {
				err = os.Symlink("/dev/zero", place("device"))
			}
			if err == nil {
				err = os.Symlink("nowhere", place("link"))
			}
			if err != nil {
				t.Fatal(err)
			}
			out := s.Run(t.Context(), "import", kind, dir, "--zone", "UTC", "--dry-run")
			if out.Exit != ui.Changes || !strings.Contains(out.Stdout, "add      good") || kind != "crontab" && !strings.Contains(out.Stdout, "4 refused") {
				t.Errorf("%s: exit code %d\n%s%s", kind, out.Exit, out.Stdout, out.Stderr)
			}
			for _, name := range []string{"apipe", "device"} {
				s.Fails(t, ui.Failed, []string{"import", kind, place(name), "--zone", "UTC"}, "no regular file")
			}
		}
	})
}

// A file of a directory that cannot be read keeps its tasks, even if others are pruned.
func TestImportKeepsTasksOfUnreadFiles(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		dir := filepath.Join(t.TempDir(), "cron.d")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("shop", "1 2 * * * root bill\n")
		write("wiki", "1 3 * * * root index\n3 3 * * * root sweep\n")
		run := []string{"import", "crontab", dir, "--zone", "UTC", "--prune", "delete"}
		s.Must(t, run...)
		if err := os.Remove(filepath.Join(dir, "shop")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("shop", filepath.Join(dir, "shop")); err != nil {
			t.Fatal(err)
		}
		write("wiki", "1 3 * * * root index\n")
		out := s.Must(t, run...)
		list := s.Must(t, "task", "list")
		if !strings.Contains(list, "bill") || strings.Contains(list, "sweep") || !strings.Contains(out, "shop: refused") {
			t.Errorf("of\n%s\nthese are left:\n%s", out, list)
		}
	})
}

// A timer cannot lead an import out of the directories that were named.
func TestImportStaysInItsDirectories(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		dir := t.TempDir()
		units := filepath.Join(dir, "units")
		if err := os.Mkdir(units, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"secret.service":  "[Service]\nExecStart=/bin/secret\n",
			"units/a.timer":   "[Timer]\nOnCalendar=daily\nUnit=../secret.service\n",
			"units/b@.timer":  "[Timer]\nOnCalendar=daily\nUnit=%I.service\n",
			"units/a.service": "[Service]\nExecStart=/bin/own\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out := s.Run(t.Context(), "import", "timer", units, filepath.Join(units, `b@..-secret.timer`), "--zone", "UTC", "--dry-run", "--handlers", "-")
		if text := out.Stdout + out.Stderr; strings.Contains(text, "/bin/secret") || strings.Count(text, "is no name of a unit") != 2 || !strings.Contains(text, "/bin/own") {
			t.Errorf("exit code %d\n%s", out.Exit, text)
		}
	})
}
