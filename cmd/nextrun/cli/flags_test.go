package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/clitest"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
)

// --zone is the zone of the times that are shown, and of those that are typed,
// wherever it stands.
func TestZone(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"next", "daily", "-n", "1", "--zone", "Asia/Tokyo", "--after", "2026-03-28 08:59"},
		{"next", "daily", "-n", "1", "--after", "2026-03-28 08:59", "--zone", "Asia/Tokyo"},
	} {
		clitest.WantLines(t, clitest.Shell{}.Must(t, args...), "2026-03-28 09:00:00 JST 2026-03-28 00:00:00")
	}
	s := clitest.Shell{}
	s.Fails(t, ui.WrongUsage, []string{"next", "daily", "--zone", "Europe/Berln"}, `unknown time zone "Europe/Berln"; did you mean "Europe/Berlin"?`)
	s.Fails(t, ui.WrongUsage, []string{"next", "daily", "--after", "soon"}, "use a time from now such as 2h or 3d, a date such as")
}

// Times are also ages, days by name, and dates.
func TestTimesArePeoples(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		now := time.Now().UTC()
		for _, age := range []time.Duration{time.Hour, 50 * time.Hour} {
			s.Exec(t, `INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES
				('a', '`+now.Add(-age).Format("2006-01-02 15:04:05.000000")+`', 'skipped', '`+now.Add(-age).Format("2006-01-02 15:04:05.000000")+`')`)
		}
		for since, want := range map[string]int{
			"2h": 1, "3 d": 2, now.Add(-72 * time.Hour).Format(time.DateOnly): 2, "tomorrow": 0, "2d ago": 1, now.Add(-2 * time.Hour).Format(time.DateTime): 1,
		} {
			var ticks []struct{ TaskID string }
			if s.JSON(t, &ticks, "tick", "list", "--zone", "UTC", "--since", since); len(ticks) != want {
				t.Errorf("--since %q: %d ticks, want %d", since, len(ticks), want)
			}
		}
	})
}

// Every list has --limit, and what changes by itself has --watch.
func TestFlagsOfLists(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"task list", "tick list", "job list", "event list", "event tail", "next", "preview"} {
		if help := (clitest.Shell{}).Must(t, append(strings.Fields(command), "--help")...); !strings.Contains(help, "-n, --limit int") {
			t.Errorf("%s has no --limit:\n%s", command, help)
		}
	}
	for _, command := range []string{"task list", "task show", "why", "tick list", "job list", "job show", "event list", "lock show", "health"} {
		if help := (clitest.Shell{}).Must(t, append(strings.Fields(command), "--help")...); !strings.Contains(help, "-w, --watch interval") {
			t.Errorf("%s has no --watch:\n%s", command, help)
		}
	}
}
