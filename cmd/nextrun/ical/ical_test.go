package ical

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Each event becomes rows, or is named with its line.
func TestRead(t *testing.T) {
	t.Parallel()
	from, to := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ event, want string }{
		"one day":           {"DTSTART;VALUE=DATE:20261224\nSUMMARY:Heiligabend", "2026-12-24 Heiligabend"},
		"the end is not in": {"DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261227\nSUMMARY:Weihnachten\\, drei Tage", "2026-12-24 to 2026-12-26 Weihnachten, drei Tage"},
		"DTEND one day":     {"DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261225", "2026-12-24"},
		"DTEND as DTSTART":  {"DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261224", "2026-12-24"},
		"a folded line":     {"DTSTART;VALUE=DATE:20261224\nSUMMARY:Heilig\n abend", "2026-12-24 Heiligabend"},
		"every year":        {"DTSTART;VALUE=DATE:20001003\nRRULE:FREQ=YEARLY\nSUMMARY:Einheit", "2025-10-03 Einheit, 2026-10-03 Einheit, 2027-10-03 Einheit, 2028-10-03 Einheit"},
		"every year until":  {"DTSTART;VALUE=DATE:20001003\nRRULE:FREQ=YEARLY;UNTIL=20261231\nEXDATE;VALUE=DATE:20251003", "2026-10-03"},
		"a weekday":         {"DTSTART;VALUE=DATE:20251127\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=2", "2025-11-27, 2026-11-26"},
		"with times":        {"DTSTART:20261224T120000Z\nDTEND:20261224T180000Z", "2026-12-24 12:00:00 UTC for 6h"},
		"in a zone":         {"DTSTART;TZID=Europe/Berlin:20261224T120000\nDTEND;TZID=Europe/Berlin:20261224T180000", "2026-12-24 11:00:00 UTC for 6h"},
		"cancelled":         {"DTSTART;VALUE=DATE:20261224\nSTATUS:CANCELLED", ""},
		"no begin":          {"SUMMARY:x", "line 3: it has no DTSTART"},
		"no date":           {"DTSTART;VALUE=DATE:2026122X", "line 3: DTSTART 2026122X: "},
		"an empty time":     {"DTSTART:20261224T120000Z", "line 3: it has no DTEND"},
		"the end is before": {"DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261223", "line 3: its DTEND 20261223 is not after"},
		"a duration":        {"DTSTART;VALUE=DATE:20261224\nDURATION:P1D", "line 3: it has a DURATION"},
		"a bad rule":        {"DTSTART;VALUE=DATE:20261224\nRRULE:FREQ=OFTEN", "line 3: RRULE FREQ=OFTEN: "},
		"too many days":     {"DTSTART:20251224T000000Z\nDTEND:20251224T000100Z\nRRULE:FREQ=HOURLY", "line 3: RRULE FREQ=HOURLY: it has more than 5000 days"},
		"one occurrence":    {"DTSTART;VALUE=DATE:20261224\nRECURRENCE-ID;VALUE=DATE:20261223", "line 3: it changes one occurrence"},
	} {
		file := "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:x\n" + c.event + "\nEND:VEVENT\nEND:VCALENDAR\n"
		for _, text := range []string{file, strings.ReplaceAll(file, "\n", "\r\n")} {
			rows, problems := Read(text, "n", from, to)
			var got []string
			for _, r := range rows {
				if r.Name != "n" || r.Validate() != nil {
					t.Errorf("%s: %+v: %v", name, r, r.Validate())
				}
				got = append(got, strings.TrimSpace(r.When()+" "+r.Reason))
			}
			for _, p := range problems {
				got = append(got, fmt.Sprintf("line %d: %v", p.Line, p.Err))
			}
			if one := strings.Join(got, ", "); one != c.want && (!strings.HasPrefix(c.want, "line") || !strings.HasPrefix(one, c.want)) {
				t.Errorf("%s: %q, want %q", name, one, c.want)
			}
		}
	}
	for text, want := range map[string]string{"": "there is no event", "BEGIN:VEVENT\nDTSTART:20260101": "no END:VEVENT"} {
		if rows, problems := Read(text, "n", from, to); len(rows) > 0 || len(problems) != 1 || !strings.Contains(problems[0].Err.Error(), want) {
			t.Errorf("%q: %v %v", text, rows, problems)
		}
	}
}
