package calendar

import (
	"strings"
	"testing"
	"time"
)

func mustParse(t testing.TB, timer string) Schedule {
	t.Helper()
	s, err := Parse(timer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func instantText(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestIntervals(t *testing.T) {
	for _, c := range []struct{ timer, after, want string }{
		{"every 15m", "2026-03-28T10:07:03Z", "2026-03-28T10:15:00Z 2026-03-28T10:30:00Z"},
		{"every 36h from 2026-01-01", "2026-01-01T00:00:00Z", "2026-01-02T12:00:00Z 2026-01-04T00:00:00Z"},
		{"every 1h30m from 2026-01-01", "2026-01-01T00:00:00Z", "2026-01-01T01:30:00Z 2026-01-01T03:00:00Z"},
		{"every 2 weeks from 2026-01-05", "2026-01-05T00:00:00Z", "2026-01-19T00:00:00Z 2026-02-02T00:00:00Z"},
		// the anchor is an elapse, and nothing is before it
		{"every day from 2026-01-05T02:00:00Z", "2025-12-31T00:00:00Z", "2026-01-05T02:00:00Z 2026-01-06T02:00:00Z"},
		// a month too short takes its last day, the next one the right day again
		{"every 1 month from 2026-01-31T02:00:00Z", "2026-01-31T02:00:00Z",
			"2026-02-28T02:00:00Z 2026-03-31T02:00:00Z 2026-04-30T02:00:00Z"},
		{"every quarter from 2025-11-30", "2025-11-30T00:00:00Z", "2026-02-28T00:00:00Z 2026-05-30T00:00:00Z"},
		{"every year from 2024-02-29", "2024-02-29T00:00:00Z",
			"2025-02-28T00:00:00Z 2026-02-28T00:00:00Z 2027-02-28T00:00:00Z 2028-02-29T00:00:00Z"},
		// days count on the clock of the zone, hours do not
		{"every 1 day from 2026-03-28T02:30:00 Europe/Berlin", "2026-03-28T01:30:00Z",
			"2026-03-29T01:30:00Z 2026-03-30T00:30:00Z"},
		{"every 24h from 2026-03-28T02:30:00 Europe/Berlin", "2026-03-28T01:30:00Z",
			"2026-03-29T01:30:00Z 2026-03-30T01:30:00Z"},
		{"every 1 day from 2026-10-24 02:30 Europe/Berlin", "2026-10-24T00:30:00Z",
			"2026-10-25T00:30:00Z 2026-10-26T01:30:00Z"},
		{"every 1 day from 2011-12-29 04:00 Pacific/Apia", "2011-12-29T14:00:00Z",
			"2011-12-30T14:00:00Z 2011-12-31T14:00:00Z"},
		// a start in a gap moves itself alone
		{"every 1 day from 2026-03-29 02:30 Europe/Berlin", "2026-03-28T00:00:00Z", "2026-03-29T01:30:00Z 2026-03-30T00:30:00Z"},
		{"every month from 2026-03-29 02:30 Europe/Berlin", "2026-03-29T01:30:00Z", "2026-04-29T00:30:00Z 2026-05-29T00:30:00Z"},
		{"every year from 2026-03-29 02:30 Europe/Berlin", "2026-03-29T01:30:00Z", "2027-03-29T00:30:00Z 2028-03-29T00:30:00Z"},
		{"every 24h from 2026-03-29 02:30 Europe/Berlin", "2026-03-28T00:00:00Z", "2026-03-29T01:30:00Z 2026-03-30T01:30:00Z"},
		{"every 1 day from 2011-12-30 04:00 Pacific/Apia", "2011-12-29T00:00:00Z", "2011-12-30T14:00:00Z 2011-12-31T14:00:00Z"},
		// the second time that the clock shows the anchor
		{"every 1 day from 2026-10-25T02:30:00+01:00 Europe/Berlin", "2026-10-25T00:00:00Z",
			"2026-10-25T01:30:00Z 2026-10-26T01:30:00Z"},
		{"every 100 years from 2026-01-01", "2026-01-01T00:00:00Z", "2126-01-01T00:00:00Z never"},
		{"every second from 2199-12-31T23:59:58Z", "2199-12-31T23:59:58Z", "2199-12-31T23:59:59Z never"},
	} {
		s := mustParse(t, c.timer)
		want := strings.Fields(c.want)
		if got := following(s, instantText(t, c.after), len(want)); strings.Join(got, " ") != c.want {
			t.Errorf("%q after %s: %s, want %s", c.timer, c.after, got, want)
		}
	}
}

func TestAnchors(t *testing.T) {
	created := time.Date(2026, 5, 4, 9, 7, 1, 234_567_891, time.UTC)
	for _, c := range []struct {
		timer  string
		anchor time.Time
		want   string
	}{
		{"every 15m", created, "every 15m from 2026-05-04T09:07:01.234567Z"},
		{"every 15m", time.Time{}, "every 15m from 1970-01-01T00:00:00Z"},
		{"every 15m from 2026-01-01", created, "every 15m from 2026-01-01T00:00:00Z"},
		{"every 2 days Europe/Berlin", created, "every 2 days from 2026-05-04T11:07:01.234567+02:00 Europe/Berlin"},
		{"Every 60 Minutes from 2026-01-01T00:00Z", created, "every 1h from 2026-01-01T00:00:00Z"},
		{"every 7 days from 2026-01-01T01:00+01:00", created, "every 7 days from 2026-01-01T00:00:00Z"},
		{"daily", created, "*-*-* 00:00:00"},
	} {
		s, err := ParseAt(c.timer, c.anchor)
		if err != nil {
			t.Errorf("%q: %v", c.timer, err)
			continue
		}
		if s.String() != c.want {
			t.Errorf("ParseAt(%q, %v) = %q, want %q", c.timer, c.anchor, s, c.want)
		}
	}
	if prev := mustParse(t, "every 1h from 2026-01-01").Prev(instantText(t, "2026-01-01T00:00:00Z")); !prev.IsZero() {
		t.Errorf("the elapse before the anchor is %v, want none", prev)
	}
	// Apia has skipped a day and then an hour since: the number of days is two more than the hours
	// tell.
	s := mustParse(t, "every 1 day from 2005-07-01 12:00 Pacific/Apia")
	if prev := s.Prev(instantText(t, "2012-01-09T22:30:00Z")); !prev.Equal(instantText(t, "2012-01-09T22:00:00Z")) {
		t.Errorf("the elapse before 12:30 in Apia is %v, want the one at 12:00", prev)
	}
}

func TestNever(t *testing.T) {
	s := mustParse(t, Never)
	if next, prev := s.Next(time.Time{}), s.Prev(time.Now()); !next.IsZero() || !prev.IsZero() || s.String() != Never {
		t.Errorf("%v elapses next at %v, and did last at %v", s, next, prev)
	}
	for _, wrong := range []string{"nevr", "Never"} {
		if _, err := Parse(wrong); err == nil || !strings.Contains(err.Error(), `did you mean "never"?`) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
