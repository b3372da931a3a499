package task_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

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
		write("calendars:\n  c:\n    2035-12-24: Heiligabend\n    2035-12-28 to 2035-12-31:\ntasks:\n  t: {handler: x, timer: daily, exclude_calendars: c}\n")
		s.Fails(t, ui.Changes, []string{"task", "apply", "-f", file, "--dry-run"})
		if out := s.Must(t, "task", "apply", "-f", file); !strings.Contains(out, "add      t\nadd      calendar c: Heiligabend, 2035-12-24\nadd      calendar c, 2035-12-28 to 2035-12-31\n") {
			t.Errorf("apply: %q", out)
		}
		exported := s.Must(t, "task", "export")
		write(exported)
		s.Must(t, "task", "apply", "-f", file, "--dry-run")
		write(strings.Replace(exported, "2035-12-24", "2035-12-25", 1))
		if out := s.Must(t, "task", "apply", "-f", file); !strings.Contains(out, "add      calendar c: Heiligabend, 2035-12-25\ndelete   calendar c: Heiligabend, 2035-12-24\n") {
			t.Errorf("another day: %q", out)
		}
		write(strings.Replace(exported, "2035-12-31", "2035-12-30", 1))
		if s.Must(t, "task", "apply", "-f", file); !strings.Contains(s.Must(t, "task", "export"), "2035-12-28 to 2035-12-30") {
			t.Error("the last day of a row has not changed")
		}
		write("calendars: {c: {someday: x}, d: }\ntasks: {}\n")
		s.Fails(t, ui.Failed, []string{"task", "apply", "-f", file}, `calendars.c: "someday" is no day of a calendar`, "calendars.d has no days")
		write("tasks:\n  t: {handler: x, timer: daily, exclude_calendars: e}\n")
		s.Fails(t, ui.Failed, []string{"task", "apply", "-f", file}, `exclude_calendars names the calendar "e"`)
	})
}
