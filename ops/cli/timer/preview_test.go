package timer_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The preview looks as far as it is asked to; a frequent task has one line, which says how often it runs.
func TestPreview(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Done, "preview", "no ticks in the next 24 h; --hours looks further")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, enabled) VALUES ('a', 't', '*:0/30', true), ('b', 't', 'hourly', true), ('c', 't', 'minutely', false)`)
		type preview struct {
			Ticks   []struct{ ID string }
			Total   int
			Busiest []struct{ Ticks int }
		}
		for hours, want := range map[string]int{"24": 72, "2.0": 6, "2d": 144, "2 d": 144, "1": 3} {
			var p preview
			if s.JSON(t, &p, "preview", "--hours", hours); p.Total != want || len(p.Ticks) != p.Total || p.Busiest[0].Ticks != 2 {
				t.Errorf("--hours %s: %d ticks, want %d; busiest %+v", hours, p.Total, want, p.Busiest)
			}
		}
		s.Says(t, ui.Done, "preview -n 2", "NEXT RUN LEFT TASK", "and 23 more; -n 0 shows all", "BUSIEST MINUTES TICKS")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('clock', 't', '*:*:0/5'), ('uneven', 't', '*:0/3,1/3')`)
		s.Says(t, ui.Done, "preview --hours 1", "NEXT RUN LEFT TASK REPEATS", "clock every 5 s: 720 times", "uneven 40 times", "! more;")
	})
	for _, hours := range []string{"0", "-1", "x", "367d", "NaN", "Inf"} {
		clitest.Shell{}.Says(t, ui.WrongUsage, "preview --hours "+hours, "--hours", "use hours, or a duration such as 90m or 2d")
	}
}
