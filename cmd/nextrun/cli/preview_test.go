package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli"
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
	onBothMigrated(t, func(t *testing.T, s shell) {
		if got := s.must(t, "preview"); got != "none\n" {
			t.Errorf("without tasks: %q", got)
		}
		s.must(t, "task", "add", "a", "--task", "t", "--timer", "*:0/30")
		s.must(t, "task", "add", "b", "--task", "t", "--timer", "hourly")
		s.must(t, "task", "add", "c", "--task", "t", "--timer", "minutely", "--disabled")
		s.must(t, "scheduler", "--once")
		var all previewJSON
		s.json(t, &all, "preview", "--hours", "24")
		if all.Total != 48+24 || len(all.Ticks) != all.Total || len(all.Busiest) != 5 || all.Busiest[0].Ticks != 2 {
			t.Errorf("got %d ticks of %d, busiest %+v; want 72 and minutes with 2", len(all.Ticks), all.Total, all.Busiest)
		}
		text := s.must(t, "preview", "-n", "2")
		wantLines(t, text, "NEXT RUN UTC LEFT TASK", "and 70 more; -n 0 shows all", "BUSIEST MINUTES TICKS")
	})
}

func TestPreviewOfAChange(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		s.must(t, "task", "add", "a", "--task", "t", "--timer", "*:0/30")
		s.must(t, "task", "add", "b", "--task", "t", "--timer", "hourly")
		var diff previewJSON
		s.json(t, &diff, "preview", "--hours", "24", "--with", "a=*:0,45")
		count := map[string]int{}
		for _, tick := range diff.Ticks {
			count[tick.Change+tick.ID]++
		}
		if count["+a"] != 24 || count["-a"] != 24 || len(count) != 2 {
			t.Errorf("got %v, want 24 ticks of a added and 24 removed", count)
		}
		if text := s.must(t, "preview", "--with", "a=hourly", "--hours", "2"); strings.Contains(text, "+ ") || !strings.Contains(text, "- 20") {
			t.Errorf("got\n%s", text)
		}
		if list := s.must(t, "task", "list"); !strings.Contains(list, "*:0/30") {
			t.Errorf("the preview has made the change:\n%s", list)
		}
		s.fails(t, cli.Failed, []string{"preview", "--with", "x=hourly"}, `task "x"`, "not found")
		s.fails(t, cli.WrongUsage, []string{"preview", "--with", "a=25:00"}, "^")
		s.fails(t, cli.WrongUsage, []string{"preview", "--with", "a"}, "id='TIMER'")
		s.fails(t, cli.WrongUsage, []string{"preview", "--hours", "0"}, "--hours")
	})
}

func TestTickList(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		for _, id := range []string{"a", "b"} {
			s.must(t, "task", "add", id, "--task", "t", "--timer", "2099-01-01")
			s.must(t, "task", "run", id)
			s.must(t, "scheduler", "--once")
		}
		s.must(t, "task", "run", "a")
		s.must(t, "scheduler", "--once")
		wantLines(t, s.must(t, "tick", "list"), "DUE TASK ID DECISION REASON OR JOB")
		var ticks []struct {
			TaskID   string `json:"task_id"`
			Decision string
			Reason   string
			JID      string
		}
		s.json(t, &ticks, "tick", "list", "--task", "a", "--since", "24h")
		if len(ticks) != 2 || ticks[0].Decision != "skipped" || !strings.Contains(ticks[0].Reason, ticks[1].JID) {
			t.Errorf("got %+v, want one skipped because of the job of the other", ticks)
		}
		s.json(t, &ticks, "tick", "list", "--decision", "submitted")
		if len(ticks) != 2 {
			t.Errorf("got %+v, want those of a and b", ticks)
		}
		s.fails(t, cli.WrongUsage, []string{"tick", "list", "--decision", "lost"}, "use one of submitted, skipped")
		s.fails(t, cli.WrongUsage, []string{"tick", "list", "--since", "yesterday"}, "use an age such as")
	})
}
