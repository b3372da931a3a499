package ui

import (
	"testing"
	"time"
)

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
