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
		s.Says(t, ui.Done, "preview", "no ticks until ", "--until looks further")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, enabled) VALUES ('a', 't', '*:0/30', true), ('b', 't', 'hourly', true), ('c', 't', 'minutely', false)`)
		type preview struct {
			Ticks   []struct{ ID string }
			Total   int
			Busiest []struct{ Ticks int }
		}
		for until, want := range map[string]int{"24h": 72, "2h": 6, "2d": 144, "2 d": 144, "1h": 3} {
			var p preview
			if s.JSON(t, &p, "preview", "--until", until); p.Total != want || len(p.Ticks) != p.Total || p.Busiest[0].Ticks != 2 {
				t.Errorf("--until %s: %d ticks, want %d; busiest %+v", until, p.Total, want, p.Busiest)
			}
		}
		s.Says(t, ui.Done, "preview -n 2", "NEXT RUN LEFT TASK", "and 23 more; -n 0 shows all", "BUSIEST MINUTES TICKS")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('clock', 't', '*:*:0/5'), ('uneven', 't', '*:0/3,1/3')`)
		s.Says(t, ui.Done, "preview --until 1h", "NEXT RUN LEFT TASK REPEATS", "clock 720 times: *:*:0/5", "uneven 40 times: *:0/3,1/3", "! more;")
	})
	for _, until := range []string{"0", "yesterday", "x", "367d"} {
		clitest.Shell{}.Says(t, ui.WrongUsage, "preview --until "+until, "--until", "use a time from now")
	}
}
