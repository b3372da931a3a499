package timer_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/ops/cli/timer"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// nextAt runs nextrun next at a time, in a zone.
func nextAt(t *testing.T, now, zone string, args ...string) string {
	t.Helper()
	got, err := tryNextAt(t, now, zone, args...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func tryNextAt(t *testing.T, now, zone string, args ...string) (string, error) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, now)
	if err != nil {
		t.Fatal(err)
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	command := timer.NextCommand(&ui.Env{Stdout: &stdout, Now: func() time.Time { return at }, Zone: location})
	command.SetArgs(args)
	command.SilenceErrors, command.SilenceUsage = true, true
	err = command.ExecuteContext(t.Context())
	return stdout.String(), err
}

// JSON has the times in the zone that the list shows them in.
func TestNextJSONIsInTheZoneOfTheTimer(t *testing.T) {
	t.Parallel()
	got := nextAt(t, "2026-03-28T12:00:00Z", "UTC", "daily Europe/Berlin", "-n", "1", "--json")
	if want := `"local": "2026-03-29T00:00:00+01:00"`; !strings.Contains(got, want) {
		t.Errorf("lacks %s:\n%s", want, got)
	}
}

func TestNextPrintsLocalTime(t *testing.T) {
	t.Parallel()
	got := nextAt(t, "2026-03-28T12:00:00Z", "Europe/Berlin", "*-*-* 02:30 Europe/Berlin", "-n", "3")
	want := `timer  *-*-* 02:30:00 Europe/Berlin

ELAPSES                   LEFT
2026-03-29 03:30:00 CEST  in 13 h 30 min
2026-03-30 02:30:00 CEST  in 1 d 12 h
2026-03-31 02:30:00 CEST  in 2 d 12 h
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A timer is shown in the zone that it names, and else in the reader's.
func TestNextIsInTheZoneOfTheTimer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"*-*-* 02:30 Asia/Tokyo":       "2026-03-29 02:30:00 JST  in 5 h 30 min",
		"*-*-* 02:30":                  "2026-03-29 04:30:00 CEST  in 14 h 30 min",
		"CRON_TZ=Asia/Tokyo 0 2 * * *": "2026-03-29 02:00:00 JST  in 5 h",
	} {
		if got := nextAt(t, "2026-03-28T12:00:00Z", "Europe/Berlin", text, "-n", "1"); !strings.Contains(got, want) {
			t.Errorf("%s: got\n%s\nwant %s", text, got, want)
		}
	}
}

func TestNextAfter(t *testing.T) {
	t.Parallel()
	got := nextAt(t, "2026-03-28T12:00:00Z", "UTC", "every 36h", "-n", "2", "--after", "2026-03-01 06:00")
	want := `
ELAPSES                  LEFT
2026-03-02 18:00:00 UTC  25 d 18 h ago
2026-03-04 06:00:00 UTC  24 d 6 h ago
`
	if !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant at its end\n%s", got, want)
	}
}

func TestNextOfATimerThatNeverElapses(t *testing.T) {
	t.Parallel()
	got, err := tryNextAt(t, "2026-03-28T12:00:00Z", "UTC", "*-02-30")
	if !strings.Contains(got, "never elapses") || err == nil {
		t.Errorf("got %s, %v; want an error for the exit code", got, err)
	}
}

func TestNextJSON(t *testing.T) {
	t.Parallel()
	got := nextAt(t, "2026-03-28T12:00:00Z", "Europe/Berlin", "daily", "-n", "1", "--json")
	want := `{
  "timer": "daily",
  "normal_form": "*-*-* 00:00:00",
  "elapses": [
    {
      "local": "2026-03-29T01:00:00+01:00",
      "utc": "2026-03-29T00:00:00Z",
      "seconds_left": 43200
    }
  ]
}
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNextExplainsAndLints(t *testing.T) {
	t.Parallel()
	got := nextAt(t, "2026-03-28T12:00:00Z", "UTC", "*-*-31 02:30 Europe/Berlin", "-n", "1", "--explain", "--lint")
	for _, want := range []string{"meaning", "02:30", "Europe/Berlin time", "short-months"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	got = nextAt(t, "2026-03-28T12:00:00Z", "UTC", "*-*-31 02:30 Europe/Berlin", "-n", "1", "--lint", "--json")
	if !strings.Contains(got, `"code": "short-months"`) {
		t.Errorf("no finding in\n%s", got)
	}
	got = nextAt(t, "2026-03-28T12:00:00Z", "UTC", "hourly", "-n", "1", "--lint")
	if !strings.Contains(got, "no problems found") {
		t.Errorf("got\n%s", got)
	}
}
