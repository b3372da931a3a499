package ical

import (
	"os"
	"strings"
	"testing"
)

// Files as calendars and publishers of holidays write them.
func TestReadOfPublishedFiles(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		"google": {"2026-10-03 Tag der Deutschen Einheit", "2026-10-31 Reformationstag (regionaler Feiertag)", "2026-11-11 Martinstag"},
		"apple": {
			"2025-05-26 Memorial Day", "2025-07-04 Independence Day", "2025-11-27 Thanksgiving", "2026-05-25 Memorial Day", "2026-07-04 Independence Day",
			"2026-11-26 Thanksgiving", "2027-07-04 Independence Day", "2027-11-25 Thanksgiving", "2028-05-29 Memorial Day", "2028-07-04 Independence Day", "2028-11-23 Thanksgiving",
		},
		"outlook": {
			"2026-12-23 Betriebsruhe (verlegt)", "2027-12-24 Betriebsruhe", "2028-12-24 Betriebsruhe",
			`"Inventur" of 20261229T000000 left out: DTSTART has TZID=W. Europe Standard Time; only whole days are read`,
		},
		"thunderbird": {
			"2026-05-15 Brückentag", "2027-05-07 Brückentag", "2028-05-26 Brückentag",
			`"Backup-Fenster" of 20260106 left out: RRULE:FREQ=WEEKLY;UNTIL=20260119T230000Z;BYDAY=TU: UNTIL has a time, and the day depends on its zone`,
		},
		"officeholidays": {"2026-01-01 Germany: New Years Day", "2026-04-03 Germany: Good Friday"},
	} {
		text, err := os.ReadFile("testdata/" + file + ".ics")
		if got := read(t, string(text)); err != nil || got != strings.Join(want, ", ") {
			t.Errorf("%s: %v\n%s\nwant\n%s", file, err, got, strings.Join(want, ", "))
		}
	}
	text, err := os.ReadFile("testdata/de-BY.ics")
	got := read(t, string(text))
	if err != nil || strings.Count(got, ",") != 4*5+3+4-1 || !strings.Contains(got, "2027-12-25 to 2027-12-26 Weihnachten, beide Tage") || !strings.Contains(got, "2028-01-06 Heilige Drei Könige") {
		t.Errorf("de-BY: %v\n%s", err, got)
	}
}
