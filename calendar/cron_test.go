package calendar

import (
	"strings"
	"testing"
)

func TestCronExpressions(t *testing.T) {
	const after = "2026-03-28T10:07:03Z" // a Saturday
	for _, c := range []struct{ timer, normal, want string }{
		{"30 4 * * 1-5", "30 4 * * 1-5", "2026-03-30T04:30:00Z 2026-03-31T04:30:00Z"},
		{"  */5\t9-17  * * mon-fri ", "*/5 9-17 * * 1-5", "2026-03-30T09:00:00Z 2026-03-30T09:05:00Z"},
		{"0 0 * * 7", "0 0 * * 7", "2026-03-29T00:00:00Z 2026-04-05T00:00:00Z"},
		{"0 0 * * SUN", "0 0 * * 0", "2026-03-29T00:00:00Z 2026-04-05T00:00:00Z"},
		{"0 0 * * 5-7", "0 0 * * 5-7", "2026-03-29T00:00:00Z 2026-04-03T00:00:00Z"},
		{"0 0 * JAN,jul *", "0 0 * 1,7 *", "2026-07-01T00:00:00Z 2026-07-02T00:00:00Z"},
		{"10 30 4 * * *", "10 30 4 * * *", "2026-03-29T04:30:10Z 2026-03-30T04:30:10Z"},
		{"0 0 1 1 * 2030", "0 0 1 1 * 2030", "2030-01-01T00:00:00Z never"},
		{"0 0 0 1 1 * 2028/2", "0 0 0 1 1 * 2028/2", "2028-01-01T00:00:00Z 2030-01-01T00:00:00Z"},
		{"0 2 L * *", "0 2 L * *", "2026-03-31T02:00:00Z 2026-04-30T02:00:00Z"},
		{"0 2 1W,15w * *", "0 2 1W,15W * *", "2026-04-01T02:00:00Z 2026-04-15T02:00:00Z 2026-05-01T02:00:00Z"},
		{"0 2 31W 5 *", "0 2 31W 5 *", "2026-05-29T02:00:00Z 2027-05-31T02:00:00Z"},
		{"0 2 1W 8 *", "0 2 1W 8 *", "2026-08-03T02:00:00Z 2027-08-02T02:00:00Z"},
		{"0 2 * * 5L", "0 2 * * 5L", "2026-04-24T02:00:00Z 2026-05-29T02:00:00Z"},
		{"0 2 * * MON#2", "0 2 * * 1#2", "2026-04-13T02:00:00Z 2026-05-11T02:00:00Z"},
		{"0 2 * * 0#5", "0 2 * * 0#5", "2026-03-29T02:00:00Z 2026-05-31T02:00:00Z"},
		// one of two restricted fields is enough, unless one starts with a star
		{"0 0 13 * 5", "0 0 13 * 5", "2026-04-03T00:00:00Z 2026-04-10T00:00:00Z 2026-04-13T00:00:00Z"},
		{"0 0 13 * */5", "0 0 13 * */5", "2026-09-13T00:00:00Z 2026-11-13T00:00:00Z"},
		{"0 0 13 * *,5", "0 0 13 * *,5", "2026-04-13T00:00:00Z 2026-05-13T00:00:00Z"},
		{"0 0 */12 * 5", "0 0 */12 * 5", "2026-05-01T00:00:00Z 2026-09-25T00:00:00Z"},
		{"0 0 ? * ?", "0 0 ? * ?", "2026-03-29T00:00:00Z 2026-03-30T00:00:00Z"},
		{"0 0 0/10 * *", "0 0 0/10 * *", "2026-03-30T00:00:00Z 2026-04-10T00:00:00Z"},
		{"0 0 31 4 *", "0 0 31 4 *", "never"},
		{"0 0 29 2 1", "0 0 29 2 1", "2027-02-01T00:00:00Z"},
		// names
		{"@Daily", "0 0 * * *", "2026-03-29T00:00:00Z"},
		{"@weekly", "0 0 * * 0", "2026-03-29T00:00:00Z"},
		{"@5minutes", "*/5 * * * *", "2026-03-28T10:10:00Z"},
		{"@everysecond", "* * * * * *", "2026-03-28T10:07:04Z"},
		// zones, and the changes of the clock
		{"CRON_TZ=Europe/Berlin 30 2 * * *", "CRON_TZ=Europe/Berlin 30 2 * * *",
			"2026-03-29T01:30:00Z 2026-03-30T00:30:00Z"},
		{"TZ=Asia/Tokyo @daily", "CRON_TZ=Asia/Tokyo 0 0 * * *", "2026-03-28T15:00:00Z 2026-03-29T15:00:00Z"},
		{"TZ=utc @daily", "CRON_TZ=UTC 0 0 * * *", "2026-03-29T00:00:00Z"},
		{"CRON_TZ=Europe/Berlin */30 * * 10 *", "CRON_TZ=Europe/Berlin */30 * * 10 *", "2026-09-30T22:00:00Z"},
	} {
		s, err := Parse(c.timer)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.timer, err)
			continue
		}
		if s.String() != c.normal {
			t.Errorf("Parse(%q) = %q, want %q", c.timer, s, c.normal)
		}
		want := strings.Fields(c.want)
		if got := following(s, instantText(t, after), len(want)); strings.Join(got, " ") != c.want {
			t.Errorf("%q: %s, want %s", c.timer, got, want)
		}
	}
}

// TestCronFollowsTheRulesForClocks: in the repeated hour, only a timer for every hour elapses
// again.
func TestCronFollowsTheRulesForClocks(t *testing.T) {
	for _, v := range readVectors(t, "dst.tsv") {
		fields := strings.FieldsFunc(v.timer, func(r rune) bool { return r == ' ' || r == ':' })
		hours, minutes := fields[1], fields[2] // *-*-* hours:minutes:00 zone
		if start, step, ok := strings.Cut(minutes, "/"); ok {
			minutes = start + "-59/" + step
		}
		s, err := Parse("CRON_TZ=" + fields[4] + " " + minutes + " " + hours + " * * *")
		if err != nil {
			t.Errorf("%q: %v", v.timer, err)
			continue
		}
		got, want := following(s, v.base, len(v.elapses)), v.elapses
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%q after %v:\n got %s\nwant %s", s, v.base, got, want)
		}
	}
}

func TestCronPartsThatNeverMatchAreRefused(t *testing.T) {
	for _, timer := range []string{"0 0 15W3 * *", "0 0 * * 5LX", "0 0 * * 5#3#1", "0 0 * * 8#2", "0 0 * * 12L",
		"99/5 * * * *", "1-5-9 * * * *", "+5 * * * *", "0 0 0W * *", "* * * * MONDAY", "*/MON * * * *", ", * * * *",
		"1,,2 * * * *", "5/ * * * *", "- * * * *", "0 0 LW * *"} {
		if s, err := Parse(timer); err == nil {
			t.Errorf("Parse(%q) = %q, want an error", timer, s)
		}
	}
}
