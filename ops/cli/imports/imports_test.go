package imports_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// nowhere is a shell whose database cannot be opened.
var nowhere = clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "sqlite:/nowhere/x.db", "TZ": "Asia/Tokyo"}}

// A crontab becomes tasks, or handlers; what is left out is named, and makes the exit code 1. No database is needed.
func TestTranslateACrontab(t *testing.T) {
	t.Parallel()
	file := clitest.WriteFile(t, "shop.cron", "MAILTO=ada\nLANG=C\n5 4 * * sun /usr/bin/backup --all\n@daily root ship\n")
	r := nowhere.Fails(t, ui.Done, []string{"import", "crontab", file, "--zone", "Europe/Berlin"},
		file+":1: note: MAILTO=ada: nextrun sends no mail", file+`:4: note: @daily root ship: "root" would be run as a program`)
	want := "tasks:\n  backup:\n    handler: backup\n    timer: CRON_TZ=Europe/Berlin 5 4 * * sun\n    summary: /usr/bin/backup --all\n    catchup: none\n" +
		"  ship:\n    handler: ship\n    timer: CRON_TZ=Europe/Berlin 0 0 * * *\n    summary: root ship\n    catchup: none\n"
	if !same(r.Stdout, want) {
		t.Errorf("the tasks are\n%s\nwant\n%s", r.Stdout, want)
	}
	got := nowhere.Must(t, "import", "crontab", file, "--handlers", "--system", "--prefix", "a")
	if want := "  a-ship:\n    command: [/bin/sh, -c, ship]\n    env:\n      LANG: C\n"; !strings.HasSuffix(got, want) {
		t.Errorf("the handlers are\n%s\nwant\n%s", got, want)
	}
	piped := nowhere
	piped.Stdin = "@reboot x\n1 2 * * * y\n"
	r = piped.Says(t, ui.Failed, "import crontab", "standard input:1: left out: @reboot x: no timer elapses when a machine starts", "left out: 1 line")
	if !strings.Contains(r.Stdout, "CRON_TZ=Asia/Tokyo 1 2 * * *") {
		t.Errorf("in the machine's zone:\n%s", r.Stdout)
	}
	nowhere.Fails(t, ui.Failed, []string{"import", "crontab", file + "x"}, "no such file")
	lost := clitest.Shell{Env: map[string]string{"TZ": "Mars"}}
	lost.Fails(t, ui.WrongUsage, []string{"import", "crontab", file}, `the machine's time zone "Mars" is not known; name it with --zone`)
}

// same compares files of tasks, whose columns may be in any order.
func same(got, want string) bool {
	lines := map[string]int{}
	for line := range strings.Lines(got) {
		lines[line]++
	}
	for line := range strings.Lines(want) {
		lines[line]--
	}
	for _, n := range lines {
		if n != 0 {
			return false
		}
	}
	return true
}

// What is translated applies, a second time without a change, and the configuration can run it.
func TestApplyACrontab(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		crontab := clitest.WriteFile(t, "shop.cron", "A=\"b: c\"\n*/5 * * * * cd /srv && ./poll > /dev/null 2>&1\n0 6 * * 1-5 echo \"it's: #1\" \\% {x}\n@weekly vacuum\n")
		tasks := clitest.WriteFile(t, "tasks.yaml", s.Must(t, "import", "crontab", crontab, "--zone", "Europe/Berlin"))
		handlers := clitest.WriteFile(t, "nextrun.yaml", s.Must(t, "import", "crontab", crontab, "--handlers", "--zone", "Europe/Berlin"))
		if out := s.Must(t, "task", "apply", "-f", tasks, "--config", handlers); !strings.Contains(out, "add      vacuum") {
			t.Errorf("apply: %s", out)
		}
		s.Must(t, "task", "apply", "-f", tasks, "--dry-run")
		clitest.WantLines(t, s.Must(t, "check", "--config", handlers), "ok tasks 3, no problems found")
	})
}

// Days become a calendar that tasks can name; what is left out is named.
func TestTranslateAnICalendarFile(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		const text = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20351224\r\nDTEND;VALUE=DATE:20351227\r\nSUMMARY:Weihnachten: drei Tage\r\nEND:VEVENT\r\n" +
			"BEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20351226\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
		out := s.Must(t, "import", "ics", clitest.WriteFile(t, "de-BY.ics", text))
		file := clitest.WriteFile(t, "days.yaml", out)
		s.Must(t, "task", "apply", "-f", file)
		s.Must(t, "task", "add", "t", "--handler", "x", "--timer", "09:00", "--exclude-calendars", "de-BY")
		s.Must(t, "task", "apply", "-f", file, "--dry-run")
		s.Says(t, ui.Done, "task export", "  de-BY:\n    2035-12-24 to 2035-12-26: 'Weihnachten: drei Tage'\n    \"2035-12-26\": \"\"\n")
		s.Stdin = strings.Replace(text, ":20351226", ":20351226T100000", 1)
		r := s.Says(t, ui.Failed, "import ics --name c", `standard input: left out: "" of 20351226T100000: DTSTART:20351226T100000 is not a day`, "left out: 1 event")
		if !strings.Contains(r.Stdout, "  c:\n    2035-12-24 to 2035-12-26:") {
			t.Errorf("the rest is %s", r.Stdout)
		}
		s.Says(t, ui.WrongUsage, "import ics", `calendar "-"`, "name it with --name")
		s.Stdin = "<html></html>"
		s.Says(t, ui.Failed, "import ics --name c", "standard input: there is no event")
	})
}

// A signal ends a translation that nobody writes to, and one of a pipe.
func TestTranslationEndsWithASignal(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, kind := range []string{"crontab", "ics"} {
		in, out := io.Pipe()
		var stdout, stderr bytes.Buffer
		if exit := cli.Run(over, []string{"import", kind, "--zone", "UTC"}, in, &stdout, &stderr, os.Getenv); exit != ui.Failed || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d\n%s%s", kind, exit, stdout.String(), stderr.String())
		}
		if err := out.Close(); err != nil {
			t.Error(err)
		}
		file := clitest.WriteFile(t, "file", "1 2 * * * x\n")
		if r := nowhere.Run(over, "import", kind, filepath.Clean(file)); r.Exit != ui.Failed || r.Stdout != "" {
			t.Errorf("%s of a file: %+v", kind, r)
		}
	}
}
