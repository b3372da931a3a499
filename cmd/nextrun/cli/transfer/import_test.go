package transfer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

func TestImportOfACrontab(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		file := clitest.WriteFile(t, "crontab", "MAILTO=ada\nLANG=C\n5 4 * * sun /usr/bin/backup --all\n@reboot x\n")
		r := s.Fails(t, ui.Changes, []string{"import", "crontab", file, "--strict", "--handlers", "-", "--zone", "Europe/Berlin"},
			file+":1: note: MAILTO", file+":4: refused: @reboot", "lines that were refused: 1", "add      backup",
			"note: cron starts a command although the one before still runs", "--overlap allow")
		want := "handlers:\n  backup:\n    command: [/bin/sh, -c, /usr/bin/backup --all]\n    env:\n      LANG: C\n"
		if r.Stdout != want {
			t.Errorf("standard output is\n%s\nwant\n%s", r.Stdout, want)
		}
		clitest.WantLines(t, s.Must(t, "check", "--config", clitest.WriteFile(t, "nextrun.yaml", r.Stdout)), "ok tasks 1, no problems found")
		var task struct{ Timer, Task, Submitter, Summary string }
		s.JSON(t, &task, "task", "show", "backup")
		if task.Timer != "CRON_TZ=Europe/Berlin 5 4 * * sun" || task.Task != "backup" || task.Summary != "/usr/bin/backup --all" {
			t.Errorf("got %+v", task)
		}

		s.Env["TZ"] = "UTC"
		if err := os.WriteFile(file, []byte("0 5 * * sun /usr/bin/backup\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		dry := s.Run(t.Context(), "import", "crontab", file, "--dry-run", "--handlers", "-")
		if dry.Exit != ui.Changes || !strings.Contains(dry.Stderr, `"CRON_TZ=Europe/Berlin 5 4 * * sun" -> "0 5 * * sun"`) {
			t.Errorf("exit code %d\n%s", dry.Exit, dry.Stderr)
		}
		s.Fails(t, ui.WrongUsage, []string{"import", "crontab", file, "--strict", "--handlers", "-", "--zone", "Mars/Olympus"}, "--zone")
	})
}

// Tasks of other origin keep what they have: those of another crontab, those that
// somebody made, nextrun's own, and those whose jobs a handler would run. The imported
// task gets a longer id, and keeps it.
func TestImportOfACrontabLeavesOtherTasksAlone(t *testing.T) {
	t.Parallel()
	clitest.OnBoth(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "migrate", "up")
		s.Must(t, "task", "add", "nightly", "--task", "backup", "--timer", "daily", "--args", `{"db":"prod"}`)
		shop := clitest.WriteFile(t, "shop.cron", "1 2 * * * php /srv/shop/cron.php\n3 4 * * * cd /srv/shop && ./bill.sh\n")
		s.Must(t, "import", "crontab", shop, "--strict", "--handlers", "-", "--zone", "UTC")
		before := s.Must(t, "task", "export")
		for name, test := range map[string]struct{ text, id string }{
			"another crontab": {"5 * * * * php /srv/wiki/cron.php\n", "crontab-cron.php"},
			"a handler":       {"5 * * * * /usr/local/bin/backup /home\n", "crontab-backup"},
			"an id":           {"5 * * * * nightly\n", "crontab-nightly"},
			"housekeeping":    {"5 * * * * nextrun-housekeeping\n", "crontab-nextrun-housekeeping"},
		} {
			file := clitest.WriteFile(t, "crontab", test.text)
			for range 2 {
				out := s.Must(t, "import", "crontab", file, "--strict", "--handlers", "-", "--zone", "UTC")
				if !strings.Contains(out, "\n  "+test.id+":\n") {
					t.Errorf("%s: the handlers are\n%s", name, out)
				}
			}
			out := s.Fails(t, ui.Changes, []string{"import", "crontab", file, "--zone", "UTC", "--dry-run", "--prefix", "wiki", "--handlers", "-"}).Stdout
			if !strings.Contains(out, "\n  wiki-") {
				t.Errorf("%s: the handlers with a prefix are\n%s", name, out)
			}
			third := clitest.WriteFile(t, "crontab", test.text)
			refused := s.Fails(t, ui.Changes, []string{"import", "crontab", third, "--strict", "--handlers", "-", "--zone", "UTC"}, "refused", "--prefix NAME")
			if strings.Contains(refused.Stdout, "command") {
				t.Errorf("%s: a handler for a line that was refused:\n%s", name, refused.Stdout)
			}
			s.Must(t, "task", "rm", test.id)
			if after := s.Must(t, "task", "export"); after != before {
				t.Errorf("%s: made of\n%s\nthis:\n%s", name, before, after)
			}
		}
		again := s.Run(t.Context(), "import", "crontab", shop, "--strict", "--handlers", "-", "--zone", "UTC")
		if again.Exit != ui.Done || !strings.Contains(again.Stderr, "changed: 0 of 2") {
			t.Errorf("imported again: exit code %d\n%s", again.Exit, again.Stderr)
		}
		s.Fails(t, ui.WrongUsage, []string{"import", "crontab", shop, "--strict", "--handlers", "-", "--zone", "UTC", "--prefix", "a b"}, "--prefix")
	})
}

// Standard input may hold any crontab: there only the same command or timer makes
// the same task. Another one gets an id of its own.
func TestImportOfACrontabFromStandardInput(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, test := range []struct {
			crontab string
			exit    int
		}{
			{"1 2 * * * report a\n", ui.Done}, {"1 3 * * * report a\n", ui.Done}, {"1 3 * * * report b\n", ui.Done},
			{"7 7 * * * report c\n", ui.Done},
		} {
			s.Stdin = test.crontab
			if r := s.Run(t.Context(), "import", "crontab", "-", "--strict", "--handlers", "-", "--zone", "UTC"); r.Exit != test.exit {
				t.Errorf("%q: exit code %d, want %d\n%s", test.crontab, r.Exit, test.exit, r.Stderr)
			}
		}
		clitest.WantLines(t, s.Must(t, "task", "list"), "report ", "crontab-report ")
	})
}

// A file of handlers that is somebody's own stops an import before it writes tasks, and
// none is written by a dry run.
func TestImportChecksTheFileOfHandlersFirst(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		file, own := clitest.WriteFile(t, "crontab", "1 2 * * * good\n"), clitest.WriteFile(t, "nextrun.yaml", "handlers: {}\n")
		s.Fails(t, ui.Failed, []string{"import", "crontab", file, "--zone", "UTC", "--handlers", own}, "was not written by an import")
		if list := s.Must(t, "task", "list"); strings.Contains(list, "good") {
			t.Errorf("tasks are written:\n%s", list)
		}
		fresh := filepath.Join(t.TempDir(), "handlers.yaml")
		s.Run(t.Context(), "import", "crontab", file, "--zone", "UTC", "--dry-run", "--handlers", fresh)
		if _, err := os.Stat(fresh); !os.IsNotExist(err) {
			t.Errorf("the file is written by a dry run: %v", err)
		}
		s.Must(t, "import", "crontab", file, "--zone", "UTC", "--handlers", fresh)
		if _, err := os.Stat(fresh); err != nil {
			t.Error(err)
		}
	})
}
