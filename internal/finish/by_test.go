package finish_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/finish"
)

func TestByWhenATickHasToFinish(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	apia, err := time.LoadLocation("Pacific/Apia") // had no 30 December 2011
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text string
		zone *time.Location
		due  string
		want string
	}{
		{"2h", berlin, "2026-06-01T00:00:00Z", "2026-06-01T02:00:00Z"},
		{"1h30m", berlin, "2026-03-29T00:30:00Z", "2026-03-29T02:00:00Z"}, // a duration does not care about clocks
		{"06:30", time.UTC, "2026-06-01T02:00:00Z", "2026-06-01T06:30:00Z"},
		{"06:30", time.UTC, "2026-06-01T06:30:00Z", "2026-06-02T06:30:00Z"}, // strictly after due
		{"06:30:15", time.UTC, "2026-06-01T06:30:00Z", "2026-06-01T06:30:15Z"},
		{"6:30", berlin, "2026-06-01T00:00:00Z", "2026-06-01T04:30:00Z"},
		{"00:00", berlin, "2026-12-31T22:59:59Z", "2026-12-31T23:00:00Z"},
		{"06:30", berlin, "2026-12-31T23:30:00Z", "2027-01-01T05:30:00Z"}, // the day of the zone, not of UTC
		// The clock is set forward: 02:30 is shown as 03:30.
		{"02:30", berlin, "2026-03-28T23:00:00Z", "2026-03-29T01:30:00Z"},
		{"03:30", berlin, "2026-03-28T23:00:00Z", "2026-03-29T01:30:00Z"},
		{"01:59", berlin, "2026-03-28T23:00:00Z", "2026-03-29T00:59:00Z"},
		{"02:30", berlin, "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"},
		// The clock is set back: 02:30 is there twice.
		{"02:30", berlin, "2026-10-24T22:00:00Z", "2026-10-25T00:30:00Z"},
		{"02:30", berlin, "2026-10-25T00:45:00Z", "2026-10-25T01:30:00Z"}, // due between the two
		{"02:30", berlin, "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"},
		{"06:00", apia, "2011-12-30T09:00:00Z", "2011-12-30T16:00:00Z"}, // due on the 29th; the 31st follows
	} {
		by, err := finish.Parse(test.text, test.zone)
		if err != nil {
			t.Fatal(err)
		}
		due, _ := time.Parse(time.RFC3339, test.due)
		if got := by.Of(due).Format(time.RFC3339); got != test.want {
			t.Errorf("%s %s after %s: %s, want %s", test.text, test.zone, test.due, got, test.want)
		}
	}
	if by, err := finish.Parse("", nil); err != nil || !by.Of(time.Now()).IsZero() {
		t.Errorf("empty: %v, %v", by, err)
	}
}

// In each zone and at each minute around a change of the clock, the time of day that is found comes after due, within a day
// and some hours, and shows the clock that was asked for unless that is skipped.
func TestTimesOfDayAroundChangesOfTheClock(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu", "Africa/Casablanca"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		by, err := finish.Parse("02:15", zone)
		if err != nil {
			t.Fatal(err)
		}
		for due := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC); due.Year() < 2027; due = due.Add(13 * time.Minute) {
			at := by.Of(due)
			if clock := at.In(zone).Format("15:04"); !at.After(due) || at.Sub(due) > 26*time.Hour || clock != "02:15" && clock != "03:15" && clock != "02:45" {
				t.Fatalf("%s after %s: %s, %s by the clock", name, due, at, clock)
			}
		}
	}
}

func TestWhatIsNeitherADurationNorATimeOfDay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"soon": "is neither a duration", "90": "is neither a duration", "-2h": "is not from 1s to 8760h", "0s": "is not from 1s", "1500ms": "whole seconds",
		"9000h": "is not from 1s to 8760h", "24:00": "is no time of day; use 00:00 to 23:59", "06:60": "is no time of day", "6": "is neither",
		"06:30 Europe/Berlin": "is neither", " 06:30": "is neither", "\x00": "is neither", "٠٦:٣٠": "is neither",
	} {
		if _, err := finish.Parse(text, time.UTC); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "finish_by ") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"2h", "06:30", "24:00", "1h30m", "", "-1s", "99:99:99"} {
		f.Add(seed, int64(1_700_000_000))
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		by, err := finish.Parse(text, zone)
		due := time.Unix(seconds%(1<<33), 0)
		if at := by.Of(due); err == nil && text != "" && !at.After(due) || (err != nil || text == "") && !at.IsZero() {
			t.Errorf("%q after %s: %s, %v", text, due, at, err)
		}
	})
}
