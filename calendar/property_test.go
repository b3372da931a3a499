package calendar

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// properties reports what is wrong with the answers of a schedule around a time.
func properties(s Schedule, at time.Time) error {
	next, prev := s.Next(at), s.Prev(at)
	if !next.IsZero() {
		switch {
		case !next.After(at):
			return fmt.Errorf("Next(%v) = %v is not later", at, next)
		case !s.Next(next.Add(-1)).Equal(next):
			return fmt.Errorf("Next(%v) = %v, but Next just before that is %v", at, next, s.Next(next.Add(-1)))
		case !s.Prev(next.Add(1)).Equal(next):
			return fmt.Errorf("Next(%v) = %v, but Prev just after that is %v", at, next, s.Prev(next.Add(1)))
		case !s.Prev(next).IsZero() && s.Prev(next).After(at):
			return fmt.Errorf("Next(%v) = %v passes over %v", at, next, s.Prev(next))
		}
	}
	if !prev.IsZero() {
		switch {
		case !prev.Before(at):
			return fmt.Errorf("Prev(%v) = %v is not earlier", at, prev)
		case !s.Prev(prev.Add(1)).Equal(prev):
			return fmt.Errorf("Prev(%v) = %v, but Prev just after that is %v", at, prev, s.Prev(prev.Add(1)))
		case !s.Next(prev.Add(-1)).Equal(prev):
			return fmt.Errorf("Prev(%v) = %v, but Next just before that is %v", at, prev, s.Next(prev.Add(-1)))
		case !s.Next(prev).IsZero() && s.Next(prev).Before(at):
			return fmt.Errorf("Prev(%v) = %v passes over %v", at, prev, s.Next(prev))
		}
	}
	if after := next.Truncate(time.Microsecond); !after.Equal(next) {
		return fmt.Errorf("Next(%v) = %v is finer than a microsecond", at, next)
	}
	return nil
}

// sameSchedule reports whether the normal form of a schedule gives the same schedule.
func sameSchedule(s Schedule, at time.Time) error {
	again, err := ParseAt(s.String(), at)
	if err != nil {
		return fmt.Errorf("the normal form %q cannot be parsed: %w", s, err)
	}
	if again.String() != s.String() {
		return fmt.Errorf("the normal form %q has the normal form %q", s, again)
	}
	if a, b := s.Next(at), again.Next(at); !a.Equal(b) {
		return fmt.Errorf("%q elapses at %v, its normal form at %v", s, a, b)
	}
	return nil
}

// zonesWithChanges are put behind timers; "" is UTC.
var zonesWithChanges = []string{"", "", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "Europe/Dublin",
	"Africa/Cairo", "America/Sao_Paulo", "America/Santiago", "Asia/Tokyo", "Africa/Monrovia", "Antarctica/Vostok",
	"Pacific/Kwajalein"}

// changes are places and times at which clocks have been changed in every odd way there is.
var changes = []struct{ zone, at string }{
	{"Europe/Berlin", "2026-03-29T01:00:00Z"}, {"Europe/Berlin", "2026-10-25T01:00:00Z"},
	{"America/New_York", "2026-03-08T07:00:00Z"}, {"America/New_York", "2026-11-01T06:00:00Z"},
	{"Australia/Lord_Howe", "2026-04-04T15:00:00Z"}, {"Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
	{"Pacific/Apia", "2011-12-30T10:00:00Z"}, {"Pacific/Kwajalein", "1993-08-21T12:00:00Z"},
	{"Europe/Dublin", "2026-03-29T01:00:00Z"}, {"Europe/Dublin", "2026-10-25T01:00:00Z"},
	{"Africa/Cairo", "2026-04-23T22:00:00Z"}, {"Africa/Cairo", "2026-10-29T21:00:00Z"},
	{"America/Sao_Paulo", "2018-02-18T02:00:00Z"}, {"America/Sao_Paulo", "2018-11-04T03:00:00Z"},
	{"America/Santiago", "2026-04-05T03:00:00Z"}, {"America/Santiago", "2026-09-06T04:00:00Z"},
	{"America/St_Johns", "2011-03-13T03:31:00Z"}, {"America/St_Johns", "2010-11-07T02:31:00Z"},
	{"Asia/Pyongyang", "2018-05-04T15:00:00Z"}, {"Africa/Casablanca", "2026-02-15T02:00:00Z"},
	{"Antarctica/Troll", "2026-03-29T01:00:00Z"}, {"Antarctica/Troll", "2026-10-25T01:00:00Z"},
	{"Antarctica/Vostok", "1994-01-31T17:00:00Z"}, {"Antarctica/Vostok", "1994-11-01T00:00:00Z"},
	{"Europe/Berlin", "2150-03-29T01:00:00Z"}, {"Asia/Gaza", "2026-03-28T00:00:00Z"},
}

func randomTime(r *rand.Rand) time.Time {
	if r.IntN(8) == 0 {
		c := changes[r.IntN(len(changes))]
		at, _ := time.Parse(time.RFC3339, c.at)
		return at.Add(time.Duration(r.Int64N(int64(96*time.Hour))) - 48*time.Hour)
	}
	return time.Unix(r.Int64N(8_000_000_000)-500_000_000, r.Int64N(1_000_000_000))
}

// randomTimer makes a timer in one of the notations.
func randomTimer(r *rand.Rand, events []vector) string {
	zone := zonesWithChanges[r.IntN(len(zonesWithChanges))]
	switch r.IntN(4) {
	case 0:
		text := cronGenerator{r}.expression()
		if zone != "" {
			text = "CRON_TZ=" + zone + " " + text
		}
		return text
	case 1:
		u := elapse.Units[r.IntN(len(elapse.Units))]
		text := fmt.Sprintf("every %d %ss", 1+r.IntN(100), u.Name)
		if r.IntN(2) == 0 {
			text += " from " + time.Unix(r.Int64N(4_000_000_000), 0).UTC().Format(time.RFC3339)
		}
		return strings.TrimSpace(text + " " + zone)
	case 2:
		return strings.TrimSpace(fmt.Sprintf("*:%d/%d:%d.%d/%d.%d %s", r.IntN(30), 1+r.IntN(20), r.IntN(20), r.IntN(999),
			1+r.IntN(20), r.IntN(999), zone))
	}
	return events[r.IntN(len(events))].timer
}

func TestNextAndPrevAreMirrors(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	events := append(readVectors(t, "systemd.tsv"), readVectors(t, "dst.tsv")...)
	for range 20_000 {
		timer := randomTimer(r, events)
		at := randomTime(r)
		s, err := ParseAt(timer, at.Truncate(time.Microsecond))
		if err != nil {
			continue
		}
		if err := properties(s, at); err != nil {
			t.Errorf("%q: %v", timer, err)
		}
		if err := sameSchedule(s, at); err != nil {
			t.Errorf("%q: %v", timer, err)
		}
	}
}

func TestTimesFarAway(t *testing.T) {
	for _, timer := range []string{"daily", "Mon *-02-29 Europe/Berlin", "*:*:0/0.000001", "0 0 L * *", "every 1s",
		"every month from 2026-01-31 Europe/Berlin"} {
		s, err := Parse(timer)
		if err != nil {
			t.Fatal(err)
		}
		first := s.Next(time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC))
		if first.Year() < 1969 || first.Year() > 2026 {
			t.Errorf("%q: the first elapse is %v", timer, first)
		}
		last := s.Prev(time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC))
		if last.Year() < 2140 || last.Year() > 2199 {
			t.Errorf("%q: the last elapse is %v", timer, last)
		}
		for _, early := range []time.Time{{}, time.Unix(math.MinInt64, 0), time.Unix(math.MinInt64/2, 999_999_999)} {
			if got := s.Next(early); !got.Equal(first) {
				t.Errorf("%q: Next(%v) = %v, want %v", timer, early, got, first)
			}
			if got := s.Prev(early); !got.IsZero() {
				t.Errorf("%q: Prev(%v) = %v, want never", timer, early, got)
			}
		}
		for _, late := range []time.Time{time.Unix(math.MaxInt64/2, 0), time.Unix(1<<50, 1)} {
			if got := s.Next(late); !got.IsZero() {
				t.Errorf("%q: Next(%v) = %v, want never", timer, late, got)
			}
			if got := s.Prev(late); !got.Equal(last) {
				t.Errorf("%q: Prev(%v) = %v, want %v", timer, late, got, last)
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	at := time.Date(2026, 3, 28, 10, 7, 3, 5, time.UTC)
	for _, timer := range []string{"daily", "*:0/5 Europe/Berlin", "*-*~1 02:00", "Mon *-02-29 Europe/Berlin", "*-02-30",
		"*:*:0/0.3", "0 0 15W,L * 5#2", "every 15m", "every month from 2026-01-31 Europe/Berlin"} {
		s, err := Parse(timer)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { s.Next(at); s.Prev(at) }); n != 0 {
			t.Errorf("%q: %v allocations", timer, n)
		}
	}
}
