package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/explain"
)

// Each timer is written in the other notations, or in none where they cannot say the same.
func TestNotations(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct{ timer, event, cron, interval string }{
		{"daily", "*-*-* 00:00:00", "0 0 * * *", "every 24h from 2026-01-02T00:00:00"},
		{"*:0/15", "*-*-* *:00/15:00", "*/15 * * * *", "every 15min from 2026-01-01T00:15:00"},
		{"*-*-* 02:00 Europe/Berlin", "*-*-* 02:00:00 Europe/Berlin", "CRON_TZ=Europe/Berlin 0 2 * * *", "every day from 2026-01-01T02:00:00 Europe/Berlin"},
		{"*-*-* 12:30 Europe/Berlin", "*-*-* 12:30:00 Europe/Berlin", "CRON_TZ=Europe/Berlin 30 12 * * *", "every day from 2026-01-01T12:30:00 Europe/Berlin"},
		{"Mon..Fri 08:30", "Mon..Fri *-*-* 08:30:00", "30 8 * * 1-5", ""},
		{"Mon 09:00 America/New_York", "Mon *-*-* 09:00:00 America/New_York", "CRON_TZ=America/New_York 0 9 * * 1", "every week from 2026-01-05T09:00:00 America/New_York"},
		{"*-*~1 23:00", "*-*~01 23:00:00", "0 23 L * *", "every month from 2026-01-31T23:00:00"},
		{"*-*~2 23:00", "*-*~02 23:00:00", "", ""},
		{"Sat *-*-1..7 18:00", "Sat *-*-01..07 18:00:00", "0 18 * * 6#1", ""},
		{"Fri *-*-13", "Fri *-*-13 00:00:00", "", ""},
		{"*-*-01 04:00", "*-*-01 04:00:00", "0 4 1 * *", "every month from 2026-01-01T04:00:00"},
		{"quarterly", "*-01,04,07,10-01 00:00:00", "0 0 1 */3 *", "every quarter from 2026-04-01T00:00:00"},
		{"2027..2029-05-01 04:00", "2027..2029-05-01 04:00:00", "0 4 1 5 * 2027-2029", ""},
		{"*:*:0/10", "*-*-* *:*:00/10", "*/10 * * * * *", "every 10s from 2026-01-01T00:00:10"},
		{"*:*:0.5", "*-*-* *:*:00.500000", "", "every 1min from 2026-01-01T00:00:00.5"},
		{"0 9 1W * *", "", "0 9 1W * *", ""},
		{"0 0 13 * 5", "", "0 0 13 * 5", ""},
		{"0 18 * * 5L", "Fri *-*~07/1 18:00", "0 18 * * 5L", ""},
		{"0 6 * * 2#3", "Tue *-*-15..21 06:00", "0 6 * * 2#3", ""},
		{"5-59/20 8,20 * * SUN", "Sun *-*-* 08,20:05/20", "5-59/20 8,20 * * 0", ""},
		{"every 36h from 2026-01-01T00:00:00Z", "", "", "every 36h from 2026-01-01T00:00:00Z"},
		{"every 6h from 2026-01-01T01:05:00Z", "*-*-* 01/6:05", "5 1-19/6 * * *", "every 6h from 2026-01-01T01:05:00Z"},
		{"every 7min from 2026-01-01T01:05:00Z", "", "", "every 7m from 2026-01-01T01:05:00Z"},
		{"every 90s from 2026-01-01T00:00:00Z", "", "", "every 90s from 2026-01-01T00:00:00Z"},
		{"every 1 week from 2026-01-06T08:00:00Z", "Tue *-*-* 08:00", "0 8 * * 2", "every 1 week from 2026-01-06T08:00:00Z"},
		{"every 2 weeks from 2026-01-06T08:00:00Z", "", "", "every 2 weeks from 2026-01-06T08:00:00Z"},
		{"every 3 months from 2026-02-10T08:00:00Z", "*-02/3-10 08:00", "0 8 10 2-11/3 *", "every 3 months from 2026-02-10T08:00:00Z"},
		{"every 1 month from 2026-01-31T08:00:00Z", "", "", "every 1 month from 2026-01-31T08:00:00Z"},
		{"2020-01-01", "2020-01-01 00:00:00", "0 0 1 1 * 2020", ""},
	} {
		got := explain.Notations(mustParse(t, c.timer), at)
		for i, want := range []string{c.event, c.cron, c.interval} {
			if got[i].Timer != want {
				t.Errorf("%s as %s: %q, want %q", c.timer, got[i].Name, got[i].Timer, want)
			}
		}
	}
}

// The notation that a timer is written in is marked.
func TestNotationThatIsGiven(t *testing.T) {
	t.Parallel()
	for i, timer := range []string{"daily", "0 0 * * *", "every 24h"} {
		for n, one := range explain.Notations(mustParse(t, timer), time.Now()) {
			if one.Given != (i == n) {
				t.Errorf("%s: %s given: %v", timer, one.Name, one.Given)
			}
		}
	}
}

// What is said in another notation elapses at the same times, also where the clock changes.
func TestNotationsElapseAtTheSameTimes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, timer := range strings.Split("*:0/15 Europe/Berlin|hourly Australia/Lord_Howe|*-*-* 0/6:10 Europe/London|*-*-* 02:30 Europe/Berlin|0/2:00 America/New_York|*/20 */4 * * *|every 12h", "|") {
		s := mustParse(t, timer)
		for _, n := range explain.Notations(s, at) {
			if n.Timer == "" {
				continue
			}
			other := mustParse(t, n.Timer)
			for a, b := s.Next(at), other.Next(at); a.Before(at.AddDate(1, 0, 0)); a, b = s.Next(a), other.Next(b) {
				if !a.Equal(b) {
					t.Errorf("%s as %q elapses at %s instead of %s", timer, n.Timer, b, a)
					break
				}
			}
		}
	}
}
