package timer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

type previewJSON struct {
	Ticks []struct {
		ID      string
		NextRun time.Time
	}
	Total   int
	Busiest []struct{ Ticks int }
}

func TestPreviewCommand(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Done, "preview", "no ticks in the next 24 h; --hours looks further\n")
		s.Must(t, "task", "add", "a", "--handler", "t", "--timer", "*:0/30")
		s.Must(t, "task", "add", "b", "--handler", "t", "--timer", "hourly")
		s.Must(t, "task", "add", "c", "--handler", "t", "--timer", "minutely", "--disabled")
		s.Must(t, "scheduler", "--once")
		var all previewJSON
		s.JSON(t, &all, "preview", "--hours", "24")
		if all.Total != 48+24 || len(all.Ticks) != all.Total || len(all.Busiest) != 5 || all.Busiest[0].Ticks != 2 {
			t.Errorf("got %d ticks of %d, busiest %+v; want 72 and minutes with 2", len(all.Ticks), all.Total, all.Busiest)
		}
		var two previewJSON
		if s.JSON(t, &two, "preview", "-n", "2"); len(two.Ticks) != 2 || two.Total != 72 {
			t.Errorf("-n 2: %d ticks of %d", len(two.Ticks), two.Total)
		}
		s.Says(t, ui.Done, "--zone Asia/Tokyo preview", "NEXT RUN LEFT TASK")
		s.Says(t, ui.Done, "preview -n 2", "NEXT RUN LEFT TASK", "and 23 more; -n 0 shows all", "BUSIEST MINUTES TICKS")
	})
}

// A frequent task has one line, which says how often it runs.
func TestPreviewGroupsFrequentTasks(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "clock", "--handler", "t", "--timer", "*:*:0/5")
		s.Must(t, "task", "add", "uneven", "--handler", "t", "--timer", "*:0/3,1/3")
		s.Must(t, "task", "add", "far", "--handler", "t", "--timer", "*:30")
		text := s.Must(t, "preview", "--hours", "1")
		clitest.WantLines(t, text, "NEXT RUN LEFT TASK REPEATS")
		if !strings.Contains(text, "clock   every 5 s: 720 times\n") || !strings.Contains(text, "uneven  40 times\n") || strings.Contains(text, " more;") {
			t.Errorf("got\n%s", text)
		}
		s.Says(t, ui.Done, "preview --hours 1 -n 1", "and 41 more; -n 0 shows all")
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

func TestPreviewRefusesHours(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, hours := range []string{"0", "-1", "x", "367d", "NaN", "Inf"} {
			s.Fails(t, ui.WrongUsage, []string{"preview", "--hours", hours}, "--hours", "use hours, or a duration such as 90m or 2d")
		}
	})
}
