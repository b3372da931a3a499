package ui

import (
	"testing"
	"time"
)

func TestExactSpan(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		7 * time.Millisecond: "7 ms", 10*time.Second + 7*time.Millisecond: "10 s", 10*time.Second + 600*time.Millisecond: "11 s", -time.Second: "0 ms",
	} {
		if got := ExactSpan(d); got != want {
			t.Errorf("ExactSpan(%s) is %q, want %q", d, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	tests := map[time.Duration]string{
		0:                                "0 s",
		time.Millisecond:                 "1 s",
		59 * time.Second:                 "59 s",
		60 * time.Second:                 "1 min",
		61 * time.Second:                 "1 min 1 s",
		3*time.Hour + 12*time.Minute:     "3 h 12 min",
		3*time.Hour + 12*time.Second:     "3 h",
		49 * time.Hour:                   "2 d 1 h",
		400 * 24 * time.Hour:             "1 y 35 d",
		10*time.Second - time.Nanosecond: "10 s",
	}
	for d, want := range tests {
		if got := Span(d); got != want {
			t.Errorf("Span(%s) is %q, want %q", d, got, want)
		}
	}
}

// What has passed is never older than it is.
func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	env := &Env{Now: func() time.Time { return now }}
	for d, want := range map[time.Duration]string{
		-10*time.Second - 7*time.Millisecond: "10 s ago", -1999 * time.Millisecond: "1 s ago", -999 * time.Millisecond: "now",
		time.Millisecond: "in 1 s", 61 * time.Second: "in 1 min 1 s", -time.Hour - 59*time.Second - 900*time.Millisecond: "1 h ago",
	} {
		if got := env.Ago(now.Add(d)); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
