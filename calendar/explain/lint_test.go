package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar/explain"
)

func TestLint(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		timer string
		want  string // code, message and time of each finding
	}{
		{"daily", ""},
		{"*-02-30", "never: never elapses"},
		{"2020-01-01", "never: never elapses again; the last time was 2020-01-01T00:00:00Z"},
		{"*-02-29", "leap-years: elapses in leap years only"},
		{"*-*-31", "short-months: day 31 does not exist in February, April, June, September and November"},
		{"*-*-15,29", "short-months: day 29 does not exist in February of most years"},
		{"0 0 30W * *", "short-months: day 30 does not exist in February"},
		{"0 0 13 * 5", "day-or-weekday: elapses on the 13th of every month and on Fridays; a day that is one of the two is enough"},
		{"0 0 1-7 6 1", "day-or-weekday: elapses on the 1st to 7th of June and on Mondays in June; a day that is one of the two is enough"},
		{"0 0 */12 * 5", ""},
		{"CRON_TZ=UTC 0 12 * * ? *", `year-as-weekday: its six fields begin with seconds; if the last one was meant as a year, leave it out: "0 12 * * ?"`},
		{"0 12 1 1 ? 2030", ""}, // a year
		{"0 12 * * ?", ""},
		{"0 0 12 * * ?", ""},
		{"0 0 12 * * ? *", ""},
		{"0 0 1 * 0-6", ""},
		{"0 0 1 0/6 *", ""},
		{"Fri *-*-13", ""},
		{"*/7 * * * *", "uneven: elapses every 7 minutes, but from minute 56 to minute 0 there are 4 minutes"},
		{"*:05/10", ""},
		{"0,20,30,50 * * * *", ""},
		{"*:*:00/11", "uneven: elapses every 11 seconds, but from second 55 to second 0 there are 5 seconds"},
		{"0 0 L * *", ""},
		{"02:30 Europe/Berlin",
			"dst-moved: 2026-03-29 02:30 does not exist and elapses at 03:30 at 2026-03-29T01:30:00Z; " +
				"dst-moved: 2027-03-28 02:30 does not exist and elapses at 03:30 at 2027-03-28T01:30:00Z; " +
				"dst-merged: 2026-10-25 02:30 occurs twice and elapses the first time only at 2026-10-25T00:30:00Z; " +
				"dst-merged: 2027-10-31 02:30 occurs twice and elapses the first time only at 2027-10-31T00:30:00Z"},
		{"2026-*-* *:0/15 Europe/Berlin",
			"dst-added: 2026-10-25 02:00 occurs twice and elapses both times at 2026-10-25T01:00:00Z"},
		{"2026-10-* 05:00 Europe/Berlin", ""},
		{"every 1 day from 2026-03-01 02:30 Europe/Berlin",
			"dst-moved: 2026-03-29 02:30 does not exist and elapses at 03:30 at 2026-03-29T01:30:00Z; " +
				"dst-moved: 2027-03-28 02:30 does not exist and elapses at 03:30 at 2027-03-28T01:30:00Z; " +
				"dst-merged: 2026-10-25 02:30 occurs twice and elapses the first time only at 2026-10-25T00:30:00Z; " +
				"dst-merged: 2027-10-31 02:30 occurs twice and elapses the first time only at 2027-10-31T00:30:00Z"},
		{"every 1 day from 2026-03-29 02:30 Europe/Berlin",
			"dst-moved: 2026-03-29 02:30 does not exist and elapses at 03:30 at 2026-03-29T01:30:00Z; " +
				"dst-moved: 2027-03-28 02:30 does not exist and elapses at 03:30 at 2027-03-28T01:30:00Z; " +
				"dst-merged: 2026-10-25 02:30 occurs twice and elapses the first time only at 2026-10-25T00:30:00Z; " +
				"dst-merged: 2027-10-31 02:30 occurs twice and elapses the first time only at 2027-10-31T00:30:00Z"},
		{"every 24h from 2026-03-01 02:30 Europe/Berlin", ""},
	} {
		var got []string
		for _, f := range explain.Lint(mustParse(t, c.timer), at) {
			text := f.Code + ": " + f.Message
			if !f.At.IsZero() {
				text += " at " + f.At.Format(time.RFC3339)
			}
			got = append(got, text)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("Lint(%q)\n got %s\nwant %s", c.timer, strings.Join(got, "; "), c.want)
		}
	}
	if got := explain.Lint(foreign{}, at); len(got) != 0 {
		t.Errorf("Lint of a schedule of another package: %v", got)
	}
}
