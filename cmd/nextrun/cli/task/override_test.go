package task_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// One tick is skipped, moved and put back by commands, and all that shows the task says so.
func TestOneOccurrence(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "t", "--handler", "x", "--timer", "*-*-* 02:00", "--starts", "2090-01-01")
		if out := s.Must(t, "task", "skip", "t", "--reason", "server moves"); !strings.HasPrefix(out, "t: skips the tick of 2090-01-01 02:00:00 UTC; to undo that: nextrun task unskip t --tick 2090-01-01T02:00:00Z") {
			t.Error(out)
		}
		s.Must(t, "task", "move", "t", "--tick", "2090-01-02 02:00", "--to", "2090-01-02 23:00", "--reason", "late")
		out := s.Must(t, "task", "show", "t")
		for _, want := range []string{"2090-01-02 23:00:00 UTC", "tick of 2090-01-01 02:00:00 UTC: left out by ", ": server moves", "tick of 2090-01-02 02:00:00 UTC: moved by ", " to 2090-01-02 23:00:00 UTC: late"} {
			if !strings.Contains(out, want) {
				t.Errorf("task show lacks %q:\n%s", want, out)
			}
		}
		var shown struct {
			Overrides []struct{ Due, Reason, Effect string }
		}
		if s.JSON(t, &shown, "task", "show", "t"); len(shown.Overrides) != 2 || shown.Overrides[1].Reason != "late" || shown.Overrides[0].Due != "2090-01-01T02:00:00Z" {
			t.Errorf("task show --json: %+v", shown)
		}
		if out := s.Must(t, "why", "t"); !strings.Contains(out, "Its tick of 2090-01-02 02:00:00 UTC: moved by") {
			t.Errorf("why: %s", out)
		}
		// The timer is changed: what was decided has no effect then.
		s.Must(t, "task", "set", "t", "--timer", "*-*-* 05:00")
		if out := s.Must(t, "task", "show", "t"); strings.Count(out, "no effect: no tick at that time") != 2 {
			t.Errorf("task show: %s", out)
		}
		s.Must(t, "task", "set", "t", "--timer", "*-*-* 02:00")
		for range 2 {
			s.Must(t, "task", "unskip", "t")
		}
		s.Fails(t, ui.WrongUsage, []string{"task", "unskip", "t"}, "no tick to come is skipped or moved")
		s.Fails(t, ui.WrongUsage, []string{"task", "skip", "t", "--tick", "2090-01-01 03:00"}, "the task has no tick at 2090-01-01 03:00:00 UTC; its next one is that of 2090-01-02 02:00:00 UTC")
		s.Fails(t, ui.WrongUsage, []string{"task", "move", "t", "--to", "2001-01-01"}, "moved_to: it is 2001-01-01 00:00:00 UTC; use a time from now on")
		s.Fails(t, ui.WrongUsage, []string{"task", "move", "t"}, `"to" not set`)
		s.Fails(t, ui.Failed, []string{"task", "skip", "nobody"}, `task "nobody": not found; see: nextrun task list`)
		if out := s.Must(t, "preview", "--hours", "366d"); strings.Contains(out, "left out") {
			t.Errorf("preview: %s", out)
		}
		s.Must(t, "task", "add", "u", "--handler", "x", "--timer", "*:0/1")
		s.Must(t, "task", "skip", "u")
		if out := s.Must(t, "preview"); !strings.Contains(out, "\n\nu: tick of ") {
			t.Errorf("preview: %s", out)
		}
	})
}
