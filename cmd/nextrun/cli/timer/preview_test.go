package timer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

type previewJSON struct {
	Ticks []struct {
		Change, ID string
		NextRun    time.Time
	}
	Frequent []struct {
		Change, ID  string
		Ticks       int
		Every       *float64
		First, Last time.Time
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
		s.JSON(t, &all, "preview", "--hours", "24", "--each")
		if all.Total != 48+24 || len(all.Ticks) != all.Total || len(all.Busiest) != 5 || all.Busiest[0].Ticks != 2 {
			t.Errorf("got %d ticks of %d, busiest %+v; want 72 and minutes with 2", len(all.Ticks), all.Total, all.Busiest)
		}
		text := s.Must(t, "preview", "--each", "-n", "2")
		clitest.WantLines(t, s.Must(t, "--zone", "Asia/Tokyo", "preview"), "NEXT RUN UTC LEFT TASK")
		clitest.WantLines(t, text, "NEXT RUN LEFT TASK", "and 70 more; -n 0 shows all", "BUSIEST MINUTES TICKS")
	})
}

// A frequent task has one line, which says how often it runs.
func TestPreviewGroupsFrequentTasks(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "clock", "--handler", "t", "--timer", "*:*:0/5")
		s.Must(t, "task", "add", "uneven", "--handler", "t", "--timer", "*:0/3,1/3")
		s.Must(t, "task", "add", "far", "--handler", "t", "--timer", "*:30")
		var p previewJSON
		s.JSON(t, &p, "preview", "--hours", "1")
		if len(p.Frequent) != 2 || p.Frequent[0].ID != "clock" || p.Frequent[0].Ticks != 720 || p.Frequent[0].Every == nil || *p.Frequent[0].Every != 5 {
			t.Fatalf("frequent: %+v, want clock every 5 s: 720 times, and uneven", p.Frequent)
		}
		if f := p.Frequent[0]; f.Last.Sub(f.First) != 719*5*time.Second || p.Frequent[1].Every != nil || p.Frequent[1].Ticks != 40 {
			t.Errorf("frequent: %+v", p.Frequent)
		}
		if len(p.Ticks) != 1 || p.Ticks[0].ID != "far" || p.Total != 720+40+1 {
			t.Errorf("ticks of those that are not frequent: %+v, %d in all", p.Ticks, p.Total)
		}
		text := s.Must(t, "preview", "--hours", "1")
		clitest.WantLines(t, text, "NEXT RUN LEFT TASK REPEATS")
		if !strings.Contains(text, "clock   every 5 s: 720 times\n") || !strings.Contains(text, "uneven  40 times\n") || strings.Contains(text, " more;") {
			t.Errorf("got\n%s", text)
		}
		clitest.WantLines(t, s.Must(t, "preview", "--hours", "1", "-n", "1"), "and 41 more; -n 0 shows all")
		if text := s.Must(t, "preview", "--hours", "1", "--with", "clock=*:*:0/10"); !strings.Contains(text, "- 20") || !strings.Contains(text, "  every 10 s: 360 times\n") {
			t.Errorf("with another timer:\n%s", text)
		}
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

// The ticks are drawn as a picture that stands alone: a timeline, or a calendar for long.
func TestPreviewAsSVG(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "a<b>", "--handler", "t", "--timer", "*:0/30")
		s.Must(t, "scheduler", "--once")
		for args, want := range map[string]int{"--hours 2": 4, "--hours 366d": 53 * 7} {
			got := s.Must(t, append([]string{"preview", "--svg"}, strings.Fields(args)...)...)
			if n := strings.Count(got, "<rect"); n != want || !strings.HasPrefix(got, "<svg") || !strings.Contains(got, "<style>") {
				t.Errorf("%s: %d shapes, want %d:\n%.500s", args, n, want, got)
			}
			if strings.Contains(got, "a<b>") {
				t.Errorf("%s: the id is not escaped", args)
			}
		}
		got := s.Must(t, "preview", "--svg", "--hours", "1", "--with", "a<b>=*:0/15")
		if strings.Count(got, `class="success"`) != 2 {
			t.Errorf("what --with adds is not drawn:\n%s", got)
		}
		s.Fails(t, ui.WrongUsage, []string{"preview", "--svg", "--json"}, "svg", "json")
	})
}
