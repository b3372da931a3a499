package calendars_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

func TestCalendarCommands(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		if out := s.Must(t, "calendar", "list"); !strings.Contains(out, "none; to add one: nextrun calendar add NAME DAY") {
			t.Errorf("without calendars: %q", out)
		}
		s.Must(t, "calendar", "add", "de-BY", "2035-12-24", "--reason", "Heiligabend")
		s.Must(t, "calendar", "add", "de-BY", "2035-12-25 to 2035-12-26")
		if out := s.Must(t, "calendar", "add", "de-BY", "2035-12-25 to 2035-12-26"); out != "calendar de-BY has 2035-12-25 to 2035-12-26 already\n" {
			t.Errorf("the same days again: %q", out)
		}
		s.Must(t, "calendar", "add", "office", "Mon..Fri 08:00 for 10h")
		clitest.WantLines(t, s.Must(t, "calendar", "list"), "ID CALENDAR WHEN REASON", "1 de-BY 2035-12-24 Heiligabend",
			"2 de-BY 2035-12-25 to 2035-12-26 -", "3 office Mon..Fri 08:00 for 10h -")
		var rows []struct {
			Calendar, Timer, Reason string
			FirstDay                string `json:"first_day"`
			Length                  int
		}
		if s.JSON(t, &rows, "calendar", "list", "office"); len(rows) != 1 || rows[0].Timer != "Mon..Fri 08:00" || rows[0].Length != 36000 {
			t.Errorf("calendar list --json: %+v", rows)
		}
		s.Must(t, "task", "add", "t", "--handler", "x", "--timer", "09:00", "--exclude-calendars", "de-BY", "--run-calendars", "office", "--on-excluded", "previous")
		s.Fails(t, ui.Failed, []string{"calendar", "rm", "office"}, "take")
		s.Fails(t, ui.Failed, []string{"calendar", "rm", "de-BY", "3"}, `the calendar "de-BY" has no row 3`)
		s.Fails(t, ui.Failed, []string{"calendar", "rm", "x"}, `there is no calendar "x"`)
		s.Must(t, "calendar", "rm", "de-BY", "2")
		for text, want := range map[string]string{
			"tomorrow": `"tomorrow" is no time of a calendar; use a day such as 2026-12-24`, "2026-12-24 to 2026-12-23": "the last day, 2026-12-23, is before the first",
			"Mon 25:00 for 1h": "Mon 25:00", "Mon for x": "is no duration", "Mon for 0s": "the length is 0s",
		} {
			s.Fails(t, ui.WrongUsage, []string{"calendar", "add", "c", text}, want)
		}
		s.Fails(t, ui.WrongUsage, []string{"calendar", "add", "a b", "2026-12-24"}, `calendar "a b": the name has 1 to 64 letters`)
		s.Fails(t, ui.WrongUsage, []string{"task", "set", "t", "--exclude-calendars", "nobody"}, `exclude_calendars names the calendar "nobody", which does not exist`)
		s.Fails(t, ui.WrongUsage, []string{"task", "set", "t", "--timer", "hourly"}, "may elapse at several times of day, so its ticks cannot move")
		s.Must(t, "task", "set", "t", "--run-calendars", "")
		s.Must(t, "calendar", "rm", "office")
	})
}

// A file of tasks holds the calendars that they name, and applies to what it was exported from without a change.
func TestCalendarsInTaskFiles(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		file := filepath.Join(t.TempDir(), "tasks.yaml")
		write := func(text string) {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("calendars:\n  c:\n    2035-12-24: Heiligabend\n    Mon 08:00 for 10h:\ntasks:\n  t: {task: x, timer: daily, exclude_calendars: c}\n")
		s.Fails(t, ui.Changes, []string{"task", "apply", "-f", file, "--dry-run"})
		if out := s.Must(t, "task", "apply", "-f", file); !strings.Contains(out, "add      t\nadd      calendar c: Heiligabend, 2035-12-24\nadd      calendar c, Mon 08:00 for 10h\n") {
			t.Errorf("apply: %q", out)
		}
		exported := s.Must(t, "task", "export")
		write(exported)
		s.Must(t, "task", "apply", "-f", file, "--dry-run")
		write(strings.Replace(exported, "2035-12-24", "2035-12-25", 1))
		if out := s.Must(t, "task", "apply", "-f", file); !strings.Contains(out, "add      calendar c: Heiligabend, 2035-12-25\ndelete   calendar c: Heiligabend, 2035-12-24\n") {
			t.Errorf("another day: %q", out)
		}
		write("calendars: {c: {someday: x}, d: }\ntasks: {}\n")
		s.Fails(t, ui.Failed, []string{"task", "apply", "-f", file}, `calendars.c: "someday" is no time of a calendar`, "calendars.d has no days")
		write("tasks:\n  t: {task: x, timer: daily, exclude_calendars: e}\n")
		s.Fails(t, ui.Failed, []string{"task", "apply", "-f", file}, `exclude_calendars names the calendar "e"`)
	})
}
