package imports_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

// nowhere is a shell whose database cannot be opened.
var nowhere = clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "sqlite:/nowhere/x.db", "TZ": "Asia/Tokyo"}}

// A crontab becomes tasks, or handlers; what is left out is named, and makes the exit code 1. No database is needed.
func TestTranslateACrontab(t *testing.T) {
	t.Parallel()
	file := clitest.WriteFile(t, "shop.cron", "MAILTO=ada\nLANG=C\n5 4 * * sun /usr/bin/backup --all\n@daily root ship\n")
	nowhere.Says(t, ui.Done, "import crontab --zone Europe/Berlin "+file,
		file+":1: note: MAILTO=ada: nextrun sends no mail", file+`:4: note: @daily root ship: "root" would be run as a program`,
		"tasks: backup: ", "timer: CRON_TZ=Europe/Berlin 5 4 * * sun", "summary: /usr/bin/backup --all", "catchup: none", "timer: CRON_TZ=Europe/Berlin 0 0 * * *")
	nowhere.Says(t, ui.Done, "import crontab --handlers --system --prefix a "+file, "a-ship: command: [/bin/sh, -c, ship] env: LANG: C")
	piped := nowhere
	piped.Stdin = "@reboot x\n1 2 * * * y\n"
	piped.Says(t, ui.Failed, "import crontab", "standard input:1: left out: @reboot x: no timer elapses when a machine starts", "left out: 1 line", "CRON_TZ=Asia/Tokyo 1 2 * * *")
	nowhere.Says(t, ui.Failed, "import crontab "+file+"x", "no such file")
	lost := clitest.Shell{Env: map[string]string{"TZ": "Mars"}}
	lost.Says(t, ui.WrongUsage, "import crontab "+file, `the machine's time zone "Mars" is not known; name it with --zone`)
}

// What is translated applies, a second time without a change, and the configuration can run it.
func TestApplyACrontab(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		crontab := clitest.WriteFile(t, "shop.cron", "A=\"b: c\"\n*/5 * * * * cd /srv && ./poll > /dev/null 2>&1\n0 6 * * 1-5 echo \"it's: #1\" \\% {x}\n@weekly vacuum\n")
		tasks := clitest.WriteFile(t, "tasks.yaml", s.Must(t, "import", "crontab", crontab, "--zone", "Europe/Berlin"))
		handlers := clitest.WriteFile(t, "nextrun.yaml", s.Must(t, "import", "crontab", crontab, "--handlers", "--zone", "Europe/Berlin"))
		s.Says(t, ui.Done, "task apply -f "+tasks+" --config "+handlers, "add vacuum")
		s.Says(t, ui.Done, "task apply --dry-run -f "+tasks)
		s.Says(t, ui.Done, "check --config "+handlers, "ok tasks 3, no problems found")
	})
}

// Days become a calendar that tasks can name; what is left out is named.
func TestTranslateAnICalendarFile(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		const text = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20351224\r\nDTEND;VALUE=DATE:20351227\r\nSUMMARY:Weihnachten: drei Tage\r\nEND:VEVENT\r\n" +
			"BEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20351226\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
		file := clitest.WriteFile(t, "days.yaml", s.Must(t, "import", "ics", clitest.WriteFile(t, "de-BY.ics", text)))
		s.Must(t, "task", "apply", "-f", file)
		s.Must(t, "task", "add", "t", "--handler", "x", "--timer", "09:00", "--exclude-calendars", "de-BY")
		s.Says(t, ui.Done, "task apply --dry-run -f "+file)
		s.Says(t, ui.Done, "task export", `de-BY: 2035-12-24 to 2035-12-26: 'Weihnachten: drei Tage' "2035-12-26": ""`)
		s.Stdin = strings.Replace(text, ":20351226", ":20351226T100000", 1)
		s.Says(t, ui.Failed, "import ics --name c", `standard input: left out: "" of 20351226T100000: DTSTART:20351226T100000 is not a day`, "left out: 1 event",
			"c: 2035-12-24 to 2035-12-26:")
		s.Says(t, ui.WrongUsage, "import ics", `calendar "-"`, "name it with --name")
		s.Stdin = "<html></html>"
		s.Says(t, ui.Failed, "import ics --name c", "standard input: there is no event")
	})
}
