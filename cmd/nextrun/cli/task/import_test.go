package task_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/clitest"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
)

func TestTaskImport(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		file := clitest.WriteFile(t, "crontab", "MAILTO=ada\nLANG=C\n5 4 * * sun /usr/bin/backup --all\n@reboot x\n")
		r := s.Fails(t, ui.Failed, []string{"task", "import", file, "--zone", "Europe/Berlin"},
			file+":1: MAILTO", file+":4: @reboot", "left out: 1", "add      backup")
		want := "handlers:\n  backup:\n    command: [/bin/sh, -c, /usr/bin/backup --all]\n    env:\n      LANG: C\n"
		if r.Stdout != want {
			t.Errorf("standard output is\n%s\nwant\n%s", r.Stdout, want)
		}
		clitest.WantLines(t, s.Must(t, "check", "--config", clitest.WriteFile(t, "nextrun.yaml", r.Stdout)), "ok tasks 1, nothing to remark")
		var task struct{ Timer, Task, Submitter, Summary string }
		s.JSON(t, &task, "task", "show", "backup")
		if task.Timer != "CRON_TZ=Europe/Berlin 5 4 * * sun" || task.Task != "backup" || task.Summary != "/usr/bin/backup --all" {
			t.Errorf("got %+v", task)
		}

		s.Stdin, s.Env["TZ"] = "0 5 * * sun /usr/bin/backup\n", "UTC"
		dry := s.Run(t.Context(), "task", "import", "-", "--dry-run")
		if dry.Exit != ui.Done || !strings.Contains(dry.Stderr, `"CRON_TZ=Europe/Berlin 5 4 * * sun" -> "0 5 * * sun"`) {
			t.Errorf("exit code %d\n%s", dry.Exit, dry.Stderr)
		}
		s.Fails(t, ui.WrongUsage, []string{"task", "import", file, "--zone", "Mars/Olympus"}, "--zone")
	})
}
