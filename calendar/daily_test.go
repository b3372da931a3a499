package calendar

import (
	"testing"
	"time"
)

// The days of a schedule have all its elapses, one of each day, at its time of day.
func TestDaily(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ timer, want string }{
		{"Mon..Fri 09:00 Europe/Berlin", "*-*-* 09:00:00 Europe/Berlin"},
		{"*-*~1 02:30:15.5 Europe/Berlin", "*-*-* 02:30:15.500000 Europe/Berlin"},
		{"CRON_TZ=Asia/Tokyo 30 4 * * 1-5", "*-*-* 04:30:00 Asia/Tokyo"},
		{"2026-12-24 08:00", "*-*-* 08:00:00 UTC"},
		{"every 2 weeks from 2026-01-05 02:30 Europe/Berlin", "every 1 day from 2026-01-05T02:30:00+01:00 Europe/Berlin"},
		{"every month from 2026-01-31T02:00:00Z", "every 1 day from 2026-01-31T02:00:00Z"},
		{"every 48h from 2026-01-01", "every 24h from 2026-01-01T00:00:00Z"},
		{"*-*-* 09,17:00", ""},
		{"*-*-* 09:00:00,30", ""},
		{"hourly", ""},
		{"every 36h from 2026-01-01", ""},
		{"*/30 4 * * *", ""},
	} {
		s := mustParse(t, c.timer)
		daily, ok := Daily(s)
		if !ok {
			if c.want != "" {
				t.Errorf("%q has no days, want %q", c.timer, c.want)
			}
			continue
		}
		if got := daily.String(); got != c.want {
			t.Errorf("the days of %q are %q, want %q", c.timer, got, c.want)
		}
		again := mustParse(t, daily.String())
		at := instantText(t, "2026-01-05T00:00:00Z")
		for range 400 {
			next := s.Next(at)
			if next.IsZero() {
				break
			}
			if got := daily.Next(next.Add(-time.Microsecond)); !got.Equal(next) {
				t.Fatalf("%q elapses at %v, which is none of its days: the next one is %v", c.timer, next, got)
			}
			if got, want := daily.Next(at), again.Next(at); !got.Equal(want) {
				t.Fatalf("after %v the days of %q elapse at %v, the same text at %v", at, c.timer, got, want)
			}
			at = next
		}
	}
}
