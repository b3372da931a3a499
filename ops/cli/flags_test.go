package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// --zone is the zone of the times that are shown, and of those that are typed,
// wherever it stands.
func TestZone(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"next", "daily", "-n", "1", "--zone", "Asia/Tokyo", "--after", "2026-03-28 08:59"},
		{"next", "daily", "-n", "1", "--after", "2026-03-28 08:59", "--zone", "Asia/Tokyo"},
	} {
		clitest.WantLines(t, clitest.Shell{}.Must(t, args...), "2026-03-28 09:00:00 JST")
	}
	s := clitest.Shell{}
	s.Says(t, ui.WrongUsage, "next daily --zone Europe/Berln", `unknown time zone "Europe/Berln"; did you mean "Europe/Berlin"?`)
	s.Says(t, ui.WrongUsage, "next daily --after soon", "use a time from now such as 2h or 3d, a date such as")
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

// The lists of what has happened can be cut at both ends.
func TestListsOfAPeriod(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, day := range []string{"01", "02", "03"} {
			at := "2026-03-" + day + " 00:00:00.000000"
			s.Exec(t, `INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('a', '`+at+`', 'skipped', '`+at+`')`)
			s.Exec(t, `INSERT INTO job (jid, task, submitted) VALUES ('j`+day+`', 'x', '`+at+`')`)
			s.Exec(t, `INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, created) VALUES ('e`+day+`', 't', 'y', 'a', `+day+`, '`+at+`')`)
		}
		for _, list := range []string{"tick list", "job list", "event list"} {
			for args, want := range map[string]int{
				"": 3, "--since 2026-03-02": 2, "--until 2026-03-02": 1, "--since 2026-03-02 --until 2026-03-03T00:00Z": 1,
				"--zone Europe/Berlin --since 2026-03-02 --until 2026-03-03": 1, "--until yesterday": 3, "--since 1h": 0,
			} {
				var found []struct{}
				if s.JSON(t, &found, append(strings.Fields(list), strings.Fields(args)...)...); len(found) != want {
					t.Errorf("%s %s: %d rows, want %d", list, args, len(found), want)
				}
			}
			s.Says(t, ui.WrongUsage, list+" --since 1h --until '2 h'",
				"--until 2 h is not later than --since 1h", "counts back from now")
		}
	})
}

// Lists that have all their rows by default can be cut, too.
func TestLimitOfShortLists(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, name := range []string{"a", "b"} {
			s.Must(t, "job", "limit", "handler", name, "1")
			s.Exec(t, `INSERT INTO scheduler_lock VALUES ('`+name+`', 'h/1', 'host', 1, 7, '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000')`)
		}
		for _, list := range []string{"job limit", "lock show"} {
			var all, one []struct{}
			s.JSON(t, &all, strings.Fields(list)...)
			s.JSON(t, &one, append(strings.Fields(list), "-n", "1")...)
			if len(all) != 2 || len(one) != 1 {
				t.Errorf("%s has %d rows, with -n 1 %d", list, len(all), len(one))
			}
			s.Says(t, ui.WrongUsage, list+" -n 0", "--limit", "use a whole number from 1 on")
		}
	})
}

// Every list has --limit.
func TestFlagsOfLists(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"task list", "tick list", "job list", "event list",
		"job limit", "lock show", "next", "preview"} {
		if help := (clitest.Shell{}).Must(t, append(strings.Fields(command), "--help")...); !strings.Contains(help, "-n, --limit int") {
			t.Errorf("%s has no --limit:\n%s", command, help)
		}
	}
}
