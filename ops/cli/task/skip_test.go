package task_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// One tick is skipped and put back by a command, and all that shows the task says so.
func TestSkip(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "t", "--handler", "x", "--timer", "*-*-* 02:00", "--starts", "2090-01-01")
		s.Says(t, ui.Done, "task skip t --reason 'server moves'", "t: skips the tick of 2090-01-01 02:00:00 UTC; to undo that: nextrun task skip t 2090-01-01T02:00:00Z --undo")
		s.Must(t, "task", "skip", "t", "2090-01-02 02:00")
		out := s.Must(t, "task", "show", "t")
		for _, want := range []string{"Its tick of 2090-01-01 02:00:00 UTC will be left out by hand", ": server moves", "Its tick of 2090-01-02 02:00:00 UTC will be left out by hand"} {
			if !strings.Contains(out, want) {
				t.Errorf("task show lacks %q:\n%s", want, out)
			}
		}
		var shown struct {
			Skips []struct{ Due, Reason string }
		}
		if s.JSON(t, &shown, "task", "show", "t"); len(shown.Skips) != 2 || shown.Skips[0].Due != "2090-01-01T02:00:00Z" || !strings.HasSuffix(shown.Skips[0].Reason, "server moves") {
			t.Errorf("task show --json: %+v", shown)
		}
		s.Says(t, ui.Done, "why t", "Its tick of 2090-01-02 02:00:00 UTC will be left out by")
		s.Must(t, "task", "skip", "t", "--undo", "2090-01-02 02:00")
		s.Must(t, "task", "skip", "t", "--undo")
		s.Says(t, ui.WrongUsage, "task skip t --undo", "no tick to come is skipped")
		s.Says(t, ui.WrongUsage, "task skip t '2090-01-01 03:00'", "the task has no tick at 2090-01-01 03:00:00 UTC; its next one is that of 2090-01-02 02:00:00 UTC")
		s.Says(t, ui.WrongUsage, "task skip t soon", "soon")
		s.Says(t, ui.Failed, "task skip nobody", `task "nobody": not found; see: nextrun task list`)
		s.Must(t, "task", "add", "u", "--handler", "x", "--timer", "*:0/1")
		s.Must(t, "task", "skip", "u")
		s.Says(t, ui.Done, "preview", "\n\nu: tick of ")
		s.Exec(t, "INSERT INTO periodic_tick (task_id, due, decision) VALUES ('t', '2090-01-01 03:00:00', 'skipped')")
		for _, command := range [][]string{{"why", "t"}, {"check"}} {
			if out := s.Run(t.Context(), command...).Stdout; !strings.Contains(out, "2090-01-01 03:00:00 UTC, but its timer has no tick then") {
				t.Errorf("%s: %s", command[0], out)
			}
		}
	})
}
