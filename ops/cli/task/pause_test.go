package task_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// A pause shows with who, why and until when, leaves the task's definition alone, and
// ends with resume.
func TestTaskPause(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, id := range []string{"a", "b", "c"} {
			s.Must(t, "task", "add", id, "--handler", "h"+id, "--timer", "yearly", "--group", "g")
		}
		s.Must(t, "scheduler", "--once")
		s.Env["USER"] = "ada"
		clitest.WantLines(t, s.Must(t, "task", "pause", "a", "b", "--until", "2099-01-01", "--reason", "the disk is full"),
			"paused a until 2099-01-01", "paused b until 2099-01-01")
		s.Says(t, ui.Done, "task list", "a paused - paused until 2099-01-01", "c not run yet - in ")
		if list := s.Must(t, "task", "list", "--state", "paused"); strings.Contains(list, "hc") || !strings.Contains(list, "hb") {
			t.Errorf("--state paused lists\n%s", list)
		}
		show := s.Must(t, "task", "show", "a")
		clitest.WantLines(t, show, "state paused", "- It has been paused by ada@", "next run paused until 2099-01-01")
		if strings.Contains(show, "starts") || !strings.Contains(show, "until 2099-01-01 00:00:00 UTC: the disk is full") {
			t.Errorf("show says\n%s", show)
		}
		why := strings.Join(strings.Fields(s.Must(t, "why", "a")), " ")
		for _, want := range []string{"state paused", "- It has been paused by ada@", "the disk is full", "nextrun task resume a"} {
			if !strings.Contains(why, want) {
				t.Errorf("why lacks %q: %s", want, why)
			}
		}
		var tasks []struct {
			PausedBy, PausedReason *string
			Until                  *string `json:"paused_until"`
		}
		s.JSON(t, &tasks, "task", "list")
		if len(tasks) != 3 || tasks[0].Until == nil || *tasks[0].Until != "2099-01-01T00:00:00Z" || tasks[2].Until != nil {
			t.Errorf("as JSON: %+v", tasks)
		}
		s.Says(t, ui.Done, "task run a", "(it is paused, and runs once all the same)")
		s.Says(t, ui.Done, "job list --task a", "JOB TASK HANDLER")
		s.Says(t, ui.Done, "task export", "! paused")
		s.Says(t, ui.Done, "task resume --group g", "resumed a", "resumed b", "c was not paused")
		s.Says(t, ui.Done, "task list", "! paused")
		s.Says(t, ui.Done, "task pause --handler hc", "paused c; to end the pause: nextrun task resume c")
		s.Says(t, ui.Done, "task resume --all", "a was not paused", "resumed c")
		s.Says(t, ui.WrongUsage, "task pause", "missing argument ID; or use --all")
		s.Says(t, ui.WrongUsage, "task pause a --all", "either")
		s.Says(t, ui.WrongUsage, "task pause a --until 2020-01-01", "paused_until", "use a time from now on")
		s.Fails(t, ui.WrongUsage, []string{"task", "pause", "a", "--reason", strings.Repeat("x", 255)}, "paused_reason", "254")
		s.Says(t, ui.Failed, "task pause nope", "not found")
	})
}
