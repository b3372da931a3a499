package when

import (
	"strings"
	"testing"
	"time"
)

// Times that people write, in a zone, on a Saturday after the clock went forward in
// the week before.
func TestParse(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 4, 4, 15, 0, 0, 0, berlin)
	for _, test := range []struct{ text, past, future string }{
		{"now", "2026-04-04 15:00:00", ""},
		{"2h", "2026-04-04 13:00:00", "2026-04-04 17:00:00"},
		{"3 d", "2026-04-01 15:00:00", "2026-04-07 15:00:00"},
		{"1 d 2 h", "2026-04-03 13:00:00", "2026-04-05 17:00:00"},
		{"2 weeks", "2026-03-21 14:00:00", "2026-04-18 15:00:00"},
		{"2h ago", "2026-04-04 13:00:00", ""},
		{"in 2 hours", "2026-04-04 17:00:00", ""},
		{"2026-03-28", "2026-03-28 00:00:00", ""},
		{"2026-03-29T12:00:30", "2026-03-29 12:00:30", ""},
		{"2026-03-29T12:00:00Z", "2026-03-29 14:00:00", ""},
		{"14:30", "2026-04-04 14:30:00", ""},
		{"Today", "2026-04-04 00:00:00", ""},
		{"yesterday", "2026-04-03 00:00:00", ""},
		{"tomorrow 8:05", "2026-04-05 08:05:00", ""},
		{"monday", "2026-03-30 00:00:00", "2026-04-06 00:00:00"},
		{"sun 12:00", "2026-03-29 12:00:00", "2026-04-05 12:00:00"},
	} {
		for past, want := range map[bool]string{true: test.past, false: test.future} {
			if want == "" {
				want = test.past
			}
			got, err := Parse(test.text, Clock{Now: now, Zone: berlin, Past: past})
			if err != nil || got.In(berlin).Format(time.DateTime) != want {
				t.Errorf("%q (past: %v) is %v, %v; want %s", test.text, past, got.In(berlin), err, want)
			}
		}
	}
	for _, wrong := range []string{"", "soon", "2026-02-30", "25:00", "3", "d", "in", "monday noon", "2x", "999999999999w", "ago"} {
		for past, want := range map[bool]string{true: "use an age such as 2h or 3d, a date", false: "use a time from now such as 2h"} {
			if got, err := Parse(wrong, Clock{Now: now, Zone: berlin, Past: past}); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%q is %v, %v; want an error that names the forms", wrong, got, err)
			}
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "90s": 90 * time.Second, "2d": 48 * time.Hour, "1.5h": 90 * time.Minute, "1 d 2 h": 26 * time.Hour, "1h30m": 90 * time.Minute,
		"500ms": 500 * time.Millisecond, "1W": 7 * 24 * time.Hour, "2 days": 48 * time.Hour,
	} {
		if got, err := Span(text); err != nil || got != want {
			t.Errorf("%q is %s, %v; want %s", text, got, err, want)
		}
	}
	for _, wrong := range []string{"", "5", "-2h", "h", "2h3", "2y", "1e9h", "36600.1d"} {
		if got, err := Span(wrong); err == nil {
			t.Errorf("%q is %s; want an error", wrong, got)
		}
	}
}
