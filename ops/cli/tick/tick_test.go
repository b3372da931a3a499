package tick_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

func TestTickList(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, id := range []string{"a", "b"} {
			s.Must(t, "task", "add", id, "--handler", "t", "--timer", "2099-01-01")
			s.Must(t, "task", "run", id)
		}
		s.Exec(t, "UPDATE periodic_task SET nextrun = '"+time.Now().UTC().Add(-time.Minute).Format("2006-01-02 15:04:05")+"' WHERE id = 'a'")
		s.Must(t, "scheduler", "--once")
		s.Says(t, ui.Done, "tick list", "DUE TASK OUTCOME REASON OR JOB")
		var ticks []struct {
			TaskID   string `json:"task_id"`
			Decision string
			Cause    string
			JID      string
		}
		s.JSON(t, &ticks, "tick", "list", "--task", "a", "--since", "24h")
		if len(ticks) != 2 || ticks[1].Decision != "skipped" || ticks[1].Cause != "overlap" {
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
		s.Says(t, ui.WrongUsage, "tick list --decision lost", "use one of submitted, skipped")
		s.Says(t, ui.WrongUsage, "tick list --since soon", "use an age such as")
	})
}

// What was left out over all tasks is one list, by when the ticks were due; what somebody has asked for is marked.
func TestTickListOfWhatDidNotRun(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "a", "--handler", "t", "--timer", "2099-01-01", "--group", "night")
		s.Must(t, "task", "add", "idle", "--handler", "t", "--timer", "2099-01-01", "--group", "day")
		s.Must(t, "task", "run", "a")
		s.Must(t, "scheduler", "--once")
		for task, decision := range map[string]string{"a": "late", "gone": "skipped", "other": "submitted"} {
			s.Exec(t, `INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('`+task+`', '2026-03-02 02:00:00.000000', '`+decision+`', '2026-03-02 09:00:00.000000')`)
		}
		s.Exec(t, `INSERT INTO periodic_tick (task_id, due, decision, decided, missed, until) VALUES ('b', '2026-03-01 20:00:00.000000', 'missed', '2026-03-02 09:00:00.000000', 9, '2026-03-02 04:00:00.000000')`)
		night := []string{"tick", "list", "--decision", "not-run", "--since", "2026-03-02T00:00:00Z", "--until", "2026-03-02T08:00:00Z"}
		for _, test := range []struct {
			args []string
			want int
		}{{night, 3}, {append(night, "--group", "night"), 1}, {append(night, "--group", "day"), 0}, {[]string{"tick", "list", "--group", "night"}, 2}, {[]string{"tick", "list", "--task", "a", "--group", "day"}, 0}} {
			var ticks []struct{ Decision string }
			if s.JSON(t, &ticks, test.args...); len(ticks) != test.want {
				t.Errorf("%v: %+v, want %d", test.args, ticks, test.want)
			}
		}
		var ticks []struct {
			Hand *string `json:"by_hand"`
		}
		if s.JSON(t, &ticks, "tick", "list", "--decision", "submitted", "--task", "a"); len(ticks) != 1 || ticks[0].Hand == nil || *ticks[0].Hand != "run by hand" {
			t.Errorf("the tick that was run by hand is %+v", ticks)
		}
	})
}
