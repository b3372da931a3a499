package cli_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli"
)

func TestTaskImport(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		file := writeFile(t, "crontab", "MAILTO=ada\nLANG=C\n5 4 * * sun /usr/bin/backup --all\n@reboot x\n")
		r := s.fails(t, cli.Failed, []string{"task", "import", file, "--zone", "Europe/Berlin"},
			file+":1: MAILTO", file+":4: @reboot", "left out: 1", "add      backup")
		want := "handlers:\n  backup:\n    command: [/bin/sh, -c, /usr/bin/backup --all]\n    env:\n      LANG: C\n"
		if r.stdout != want {
			t.Errorf("standard output is\n%s\nwant\n%s", r.stdout, want)
		}
		wantLines(t, s.must(t, "check", "--config", writeFile(t, "nextrun.yaml", r.stdout)), "ok tasks 1, nothing to remark")
		var task struct{ Timer, Task, Submitter, Summary string }
		s.json(t, &task, "task", "show", "backup")
		if task.Timer != "CRON_TZ=Europe/Berlin 5 4 * * sun" || task.Task != "backup" || task.Summary != "/usr/bin/backup --all" {
			t.Errorf("got %+v", task)
		}

		s.stdin, s.env["TZ"] = "0 5 * * sun /usr/bin/backup\n", "UTC"
		dry := s.run(t.Context(), "task", "import", "-", "--dry-run")
		if dry.exit != cli.Done || !strings.Contains(dry.stderr, `"CRON_TZ=Europe/Berlin 5 4 * * sun" -> "0 5 * * sun"`) {
			t.Errorf("exit code %d\n%s", dry.exit, dry.stderr)
		}
		s.fails(t, cli.WrongUsage, []string{"task", "import", file, "--zone", "Mars/Olympus"}, "--zone")
	})
}
