package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// What matters comes first: errors, then tasks that never run again. Changes of the
// clock are for nextrun next --lint.
func TestCheckWarnsOfWhatDeservesIt(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES
			('a', 'x', '02:30 Europe/Berlin'), ('b', 'x', 'CRON_TZ=Europe/Berlin 15 2 * * *'), ('c', 'x', '*:0/5 Europe/Berlin'),
			('d', 'x', '*/7 * * * *'), ('e', 'x', '2020-01-01'), ('f', 'x', 'every 0s'), ('g', 'x', 'daily')`)
		r := s.Fails(t, ui.Changes, []string{"check"}, "errors: 1, warnings: ")
		place := func(text string) int { return strings.Index(r.Stdout, text) }
		if e, never, uneven := place("task f"), place("never elapses"), place("(uneven)"); e < 0 || never < e || uneven < never {
			t.Errorf("the order is wrong:\n%s", r.Stdout)
		}
		if n := strings.Count(r.Stdout, "(dst-"); n > 0 {
			t.Errorf("%d lines about changes of the clock:\n%s", n, r.Stdout)
		}
	})
}

// Warnings fail with --strict only, notes never.
func TestCheckStrict(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('a', 'x', '02:30 Europe/Berlin')`)
		warned := strings.Contains(s.Must(t, "check"), "warning") // the library of SQLite may be old
		if r := s.Run(t.Context(), "check", "--strict"); (r.Exit == ui.Changes) != warned {
			t.Errorf("exit code %d:\n%s", r.Exit, r.Stdout)
		}
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('e', 'x', '2020-01-01')`)
		s.Must(t, "check")
		r := s.Fails(t, ui.Changes, []string{"check", "--strict", "--json"}, "errors: 0, warnings: ")
		var findings []struct{ Level, About, Text string }
		clitest.Decode(t, r.Stdout, &findings)
		levels := map[string]int{}
		for _, f := range findings {
			if f.About != "schedulers" { // on a slow machine the tasks wait long enough for a note
				levels[f.Level]++
			}
		}
		if levels["note"] != 0 || levels["warning"] == 0 || levels["ok"] < 3 {
			t.Errorf("got %+v", findings)
		}
		s.Fails(t, ui.WrongUsage, []string{"check", "--strikt"}, "--strikt")
	})
}
