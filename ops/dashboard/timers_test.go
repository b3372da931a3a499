package dashboard_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/ops/dashboard"
)

// The page of timers explains each notation, without a task.
func TestTimersAreExplained(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		for path, want := range map[string][]string{
			"/timers": {"<h1>What does a timer mean?</h1>", "at 23:00 on the last day of every month, UTC"},
			"/timers?timer=02:30+Europe/Berlin&zone=Asia/Tokyo": {"<h1>It elapses at 02:30 every day, Europe/Berlin time</h1>", ">Asia/Tokyo</th>", ">Europe/Berlin</th>",
				"<code>CRON_TZ=Europe/Berlin 30 2 * * *</code>", "the clock of Europe/Berlin goes forward from 02:00 to 03:00", "02:30 does not exist and elapses at 03:30", "the clock of Europe/Berlin goes back from 03:00 to 02:00"},
			"/timers?timer=12:00+Europe/Berlin":                           {"nothing is lost, moved or added"},
			"/timers?timer=12:00+Europe/Berlin%3B+13:00+America/New_York": {"<summary>8 changes in two years at which nothing is lost", "the clock of America/New_York goes back"},
			"/timers?timer=0+0+13+*+5":                                    {"a day that is one of the two is enough", "cannot be written in this notation", "does not change in the next two years"},
			"/timers?timer=0+0+31+2+*":                                    {"<h1>It never elapses: at 00:00 on the 31st of February, UTC</h1>"},
			"/timers?timer=2020-01-01":                                    {"<h1>It never elapses again: at 00:00 on the 1st of January in 2020, UTC</h1>", "It never elapses again; the last time was 2020-01-01T00:00:00Z."},
			"/timers?timer=Mon..Fri+08:30+Europe/Berlin%3B+Sat+10:00+Europe/Berlin": {"at 10:00 on Saturdays, Europe/Berlin time</h1>", ">Europe/Berlin</th>",
				"<code>CRON_TZ=Europe/Berlin 30 8 * * 1-5; CRON_TZ=Europe/Berlin 0 10 * * 6</code>", "nothing is lost, moved or added"},
			"/timers?timer=*-*-31":                        {"Day 31 does not exist in February, April, June, September and November."},
			"/timers?timer=*/7+*+*+*+*":                   {"It elapses every 7 minutes, but from minute 56 to minute 0 there are 4 minutes."},
			"/timers?timer=12:00+Mars/Olympus":            {`class="note bad"`, "unknown time zone &#34;Mars/Olympus&#34;", "12:00 Mars/Olympus\n      ^"},
			"/timers?timer=%1b%5b31m%00%e2%80%aedaily":    {`class="note bad"`},
			"/timers?timer=" + strings.Repeat("1", 20000): {`class="note bad"`, "at most 254 are allowed"},
			"/timers?timer=daily%3B+Mun+08:30":            {`class="note bad"`, "timer 2 of 2", "daily; Mun 08:30\n       ^", `value="daily; Mun 08:30"`},
			"/timers?timer=Mon+25:00":                     {`class="note bad"`, "hour 25 is not in 0..23", "Mon 25:00\n    ^", `value="Mon 25:00"`},
		} {
			page := s.get(path)
			for _, text := range want {
				if !strings.Contains(page, text) {
					s.Errorf("%s lacks %q:\n%s", path, text, page)
				}
			}
			if n := strings.Count(page, `<td><time datetime=`); (n == 12) != strings.Contains(page, "The next times</h2>\n<table") {
				s.Errorf("%s shows %d times", path, n)
			}
		}
		var d struct {
			Elapses   []string
			Notations []struct{ Notation, Timer string }
			Changes   []struct{ Lint []struct{ Code string } } `json:"clock_changes"`
		}
		if s.data("/timers?format=json&timer=02:30+Europe/Berlin", &d); len(d.Elapses) != 12 || len(d.Notations) != 3 || len(d.Changes) < 3 || len(d.Changes[0].Lint) != 1 {
			s.Errorf("as JSON: %+v", d)
		}
	})
}
