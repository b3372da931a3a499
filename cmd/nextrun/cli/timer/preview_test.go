package timer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/clitest"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
)

type previewJSON struct {
	Ticks []struct {
		Change, ID string
		NextRun    time.Time
	}
	Total   int
	Busiest []struct{ Ticks int }
}

func TestPreviewCommand(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		if got := s.Must(t, "preview"); got != "no ticks in the next 24 h; --hours looks further\n" {
			t.Errorf("without tasks: %q", got)
		}
		s.Must(t, "task", "add", "a", "--task", "t", "--timer", "*:0/30")
		s.Must(t, "task", "add", "b", "--task", "t", "--timer", "hourly")
		s.Must(t, "task", "add", "c", "--task", "t", "--timer", "minutely", "--disabled")
		s.Must(t, "scheduler", "--once")
		var all previewJSON
		s.JSON(t, &all, "preview", "--hours", "24")
		if all.Total != 48+24 || len(all.Ticks) != all.Total || len(all.Busiest) != 5 || all.Busiest[0].Ticks != 2 {
			t.Errorf("got %d ticks of %d, busiest %+v; want 72 and minutes with 2", len(all.Ticks), all.Total, all.Busiest)
		}
		text := s.Must(t, "preview", "-n", "2")
		clitest.WantLines(t, text, "NEXT RUN UTC LEFT TASK", "and 70 more; -n 0 shows all", "BUSIEST MINUTES TICKS")
	})
}

// --hours takes hours, also with a fraction, and durations.
func TestPreviewLooksAsFarAsAsked(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('a', 't', '*:0/30')`)
		for hours, want := range map[string]int{"1.5": 3, "90m": 3, "2d": 96, "2 d": 96, "1": 2} {
			var p previewJSON
			if s.JSON(t, &p, "preview", "--hours", hours); p.Total != want {
				t.Errorf("--hours %s: %d ticks, want %d", hours, p.Total, want)
			}
		}
	})
}

func TestPreviewOfAChange(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "a", "--task", "t", "--timer", "*:0/30")
		s.Must(t, "task", "add", "b", "--task", "t", "--timer", "hourly")
		var diff previewJSON
		s.JSON(t, &diff, "preview", "--hours", "24", "--with", "a=*:0,45")
		count := map[string]int{}
		for _, tick := range diff.Ticks {
			count[tick.Change+tick.ID]++
		}
		if count["+a"] != 24 || count["-a"] != 24 || len(count) != 2 {
			t.Errorf("got %v, want 24 ticks of a added and 24 removed", count)
		}
		if text := s.Must(t, "preview", "--with", "a=hourly", "--hours", "2"); strings.Contains(text, "+ ") || !strings.Contains(text, "- 20") {
			t.Errorf("got\n%s", text)
		}
		if list := s.Must(t, "task", "list"); !strings.Contains(list, "*:0/30") {
			t.Errorf("the preview has made the change:\n%s", list)
		}
		s.Fails(t, ui.Failed, []string{"preview", "--with", "x=hourly"}, `task "x"`, "not found")
		s.Fails(t, ui.WrongUsage, []string{"preview", "--with", "a=25:00"}, "^")
		s.Fails(t, ui.WrongUsage, []string{"preview", "--with", "a"}, "id='TIMER'")
		for _, hours := range []string{"0", "-1", "x", "367d", "NaN", "Inf"} {
			s.Fails(t, ui.WrongUsage, []string{"preview", "--hours", hours}, "--hours", "use hours, or a duration such as 90m or 2d")
		}
	})
}
