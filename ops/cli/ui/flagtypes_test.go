package ui

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// The zone may come after the time on the command line.
func TestTimeFlagIsReadInTheZone(t *testing.T) {
	t.Parallel()
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	f := TimeFlag{Past: true, AllowNone: true}
	resolve := func(text string) error { return errors.Join(f.Set(text), f.Resolve(time.Now(), tokyo)) }
	if err := resolve("2026-03-28"); err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 3, 27, 15, 0, 0, 0, time.UTC); !f.Value.Equal(want) {
		t.Errorf("%s, want %s", f.Value, want)
	}
	if err := resolve("none"); err != nil || !f.Value.IsZero() {
		t.Errorf("none is %s, %v", f.Value, err)
	}
	if err := resolve("soon"); err == nil || !strings.HasSuffix(err.Error(), ", or none") {
		t.Errorf("soon: %v", err)
	}
}

// What has passed is never older than it is.
func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	env := &Env{Now: func() time.Time { return now }}
	for d, want := range map[time.Duration]string{
		-10*time.Second - 7*time.Millisecond: "10 s ago", -999 * time.Millisecond: "now",
		time.Millisecond: "in 1 s", 61 * time.Second: "in 1 min 1 s", -time.Hour - 59*time.Second - 900*time.Millisecond: "1 h ago",
	} {
		if got := env.Ago(now.Add(d)); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
