package tick_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/clitest"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/storetest/migrated"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

func TestTickList(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, id := range []string{"a", "b"} {
			s.Must(t, "task", "add", id, "--task", "t", "--timer", "2099-01-01")
			s.Must(t, "task", "run", id)
			s.Must(t, "scheduler", "--once")
		}
		s.Must(t, "task", "run", "a")
		s.Must(t, "scheduler", "--once")
		clitest.WantLines(t, s.Must(t, "tick", "list"), "DUE TASK OUTCOME REASON OR JOB")
		var ticks []struct {
			TaskID   string `json:"task_id"`
			Decision string
			Reason   string
			JID      string
		}
		s.JSON(t, &ticks, "tick", "list", "--task", "a", "--since", "24h")
		if len(ticks) != 2 || ticks[0].Decision != "skipped" || !strings.Contains(ticks[0].Reason, ticks[1].JID) {
			t.Errorf("got %+v, want one skipped because of the job of the other", ticks)
		}
		s.JSON(t, &ticks, "tick", "list", "--since", "tomorrow")
		if len(ticks) != 0 {
			t.Errorf("got %+v, want none of tomorrow", ticks)
		}
		s.JSON(t, &ticks, "tick", "list", "--decision", "submitted")
		if len(ticks) != 2 {
			t.Errorf("got %+v, want those of a and b", ticks)
		}
		s.Fails(t, ui.WrongUsage, []string{"tick", "list", "--decision", "lost"}, "use one of submitted, skipped")
		s.Fails(t, ui.WrongUsage, []string{"tick", "list", "--since", "soon"}, "use an age such as")
	})
}
