package ical

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

var from, to = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC)

// read reads a file: its days in order, then what was left out.
func read(t *testing.T, content string) string {
	t.Helper()
	rows, problems, err := Read(t.Context(), content, "n", from, to)
	var got []string
	for _, r := range rows {
		if r.Name != "n" || r.Validate() != nil {
			t.Errorf("%+v: %v", r, r.Validate())
		}
		got = append(got, strings.TrimSpace(r.When()+" "+r.Reason))
	}
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%s left out: %v", p.Event, p.Err))
	}
	if err != nil {
		got = append(got, "error: "+err.Error())
	}
	return strings.Join(got, ", ")
}

// calendarOf makes a file of the lines of events.
func calendarOf(events ...string) string {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\nVERSION:2.0\n")
	for _, e := range events {
		b.WriteString("BEGIN:VEVENT\n" + e + "\nEND:VEVENT\n")
	}
	return b.String() + "END:VCALENDAR\n"
}

// Days of one event.
func TestReadOfAnEvent(t *testing.T) {
	t.Parallel()
	const day = "DTSTART;VALUE=DATE:20261224\n"
	for event, want := range map[string]string{
		day + "SUMMARY;LANGUAGE=de:Weihnachten\\, drei Tage\nDTEND:20261227": "2026-12-24 to 2026-12-26 Weihnachten, drei Tage",
		day + "DTEND;VALUE=DATE:20261224":                                    "2026-12-24",
		day + "SUMMARY:Heilig\n abend":                                       "2026-12-24 Heiligabend",
		"DTSTART:20261224":                                                   "2026-12-24",
		// A length in days (K9).
		day + "DURATION:P3D":                 "2026-12-24 to 2026-12-26",
		day + "DURATION:P1DT0H0M0S":          "2026-12-24",
		day + "DURATION:-P1D":                "left out: DURATION:-P1D is not in days",
		day + "DURATION:P1D\nDTEND:20261226": "left out: it has a DURATION and another end",
		day + "BEGIN:VALARM\nTRIGGER:-PT9H\nDURATION:PT5M\nSTATUS:CANCELLED\nEND:VALARM": "2026-12-24",
		// Case, empty properties and trailing separators (K8).
		"dtstart;value=date:20261224\nsummary:Heiligabend\\, spät":                                           "2026-12-24 Heiligabend, spät",
		day + "DTEND:\nDURATION:\nRRULE:\nRDATE:\nEXDATE:\nEXRULE:\nRECURRENCE-ID:\nSTATUS:\nSUMMARY:\nUID:": "2026-12-24",
		"DTSTART;VALUE=DATE;:20261224;\nRRULE:FREQ=YEARLY;COUNT=2;BYMONTH=;\nEXDATE;VALUE=DATE:20271224,":    "2026-12-24",
		day + "status:Cancelled": "",
		day + "STATUS:CANCELED":  "left out: STATUS:CANCELED is not known",
		// Times and zones are named (K1).
		"DTSTART:20261224T120000Z\nDTEND:20261224T180000Z": "left out: DTSTART:20261224T120000Z is not a day; only whole days are read",
		"DTSTART;TZID=Europe/Berlin:20261224T000000":       "left out: DTSTART has TZID=Europe/Berlin; only whole days are read",
		day + "RRULE:FREQ=YEARLY\nEXDATE:20271223T230000Z": "left out: EXDATE:20271223T230000Z is not a day",
		day + "RDATE;VALUE=PERIOD:20261226T000000Z/P1D":    "left out: RDATE has VALUE=PERIOD",
		"SUMMARY:x":                          "left out: it has no DTSTART",
		"DTSTART;VALUE=DATE:20260230":        "left out: DTSTART:20260230 is not a day",
		"DTSTART:20261224\nDTSTART:20261225": "left out: it has several DTSTART",
		day + "DTEND;VALUE=DATE:20261223":    "left out: its end is before its begin",
		"DTSTART:99991224\nDURATION:P9999W":  "left out: its end is before its begin, or after the year 9999",
		// Folded lines end nothing (K13).
		day + "DESCRIPTION:see\n END:VEVENT\n  or RRULE:FREQ=DAILY\nSUMMARY:Heiligabend": "2026-12-24 Heiligabend",
		day + "SUMMARY:Heiligabend\nDESCRIPTION:see\nbelow, it is not folded":            `left out: "below, it is not folded": it has no name, or no value`,
		day + "BEGIN:VALARM\nRRULE:FREQ=DAILY":                                           "left out: it, or a component in it, has no END",
	} {
		file := calendarOf(event)
		for _, text := range []string{file, strings.ReplaceAll(file, "\n", "\r\n"), strings.ReplaceAll(strings.ReplaceAll(file, "VEVENT", "vevent"), "BEGIN", "begin"), "\ufeff" + strings.TrimSpace(file)} {
			if got := read(t, text); got != want && (!strings.HasPrefix(want, "left out") || !strings.Contains(got, want)) {
				t.Errorf("%s\n%q, want %q", event, got, want)
			}
		}
	}
}

// Days of an event that recurs.
func TestReadOfARule(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]string{
		"20001003\nRRULE:FREQ=YEARLY":                                            "2025-10-03, 2026-10-03, 2027-10-03, 2028-10-03",
		"20001003\nRRULE:FREQ=YEARLY;UNTIL=20261231\nEXDATE;VALUE=DATE:20251003": "2026-10-03",
		"20251127\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=2":               "2025-11-27, 2026-11-26",
		"20240229\nRRULE:FREQ=YEARLY":                                            "2028-02-29",
		"20261224\nDTEND:20261227\nRRULE:FREQ=YEARLY;COUNT=2":                    "2026-12-24 to 2026-12-26, 2027-12-24 to 2027-12-26",
		"20270101\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-1,1;COUNT=3":                   "2027-01-01, 2027-01-31, 2027-02-01",
		// RDATE and EXDATE (K2).
		"20261224\nRDATE;VALUE=DATE:20261226,20261228\nRDATE:20270101":                          "2026-12-24, 2026-12-26, 2026-12-28, 2027-01-01",
		"20261224\nRRULE:FREQ=DAILY;COUNT=3\nRDATE:20261225,20261230\nEXDATE:20261224,20261230": "2026-12-25, 2026-12-26",
		// What is not understood (K4).
		"20261224\nRRULE:FREQ=YEARLY\nEXRULE:FREQ=YEARLY;INTERVAL=2": "left out: EXRULE is not supported",
		"20261224\nRRULE:FREQ=YEARLY\nRRULE:FREQ=MONTHLY":            "left out: it has several RRULE",
		"20261224\nRRULE:INTERVAL=2":                                 "left out: RRULE:INTERVAL=2: RRULE property FREQ is required",
		"20261224\nRRULE:FREQ=YEARLY;FREQ=DAILY":                     "FREQ is there twice",
		"20261224\nRRULE:FREQ=YEARLY;BYEASTER=0":                     "BYEASTER is there twice, or is not for days",
		"20261224\nRRULE:FREQ=YEARLY;COUNT=2;UNTIL=20271231":         "COUNT is less than 1, or with UNTIL",
		"20261224\nRRULE:FREQ=DAILY;INTERVAL=4611686018427387904":    "INTERVAL is not in 1..9999",
		"20261224\nRRULE:FREQ=YEARLY;BYMONTH=13":                     "bymonth must be between 1 and 12",
		"20261207\nRRULE:FREQ=MONTHLY;BYDAY=53MO":                    "BYDAY has a number",
		"20261224\nRRULE:FREQ=YEARLY;BYMONTH=12;BYDAY=1TH":           "DTSTART is not the first of its days",
		"20261224\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30":         "DTSTART is not the first of its days",
		// UNTIL is a day, and counts (K10).
		"20261224\nRRULE:FREQ=DAILY;UNTIL=20261226":          "2026-12-24, 2026-12-25, 2026-12-26",
		"20261224\nRRULE:FREQ=DAILY;UNTIL=20261226T000000Z":  "2026-12-24, 2026-12-25, 2026-12-26",
		"20261224\nRRULE:FREQ=DAILY;UNTIL=20261225T230000Z":  "UNTIL has a time, and the day depends on its zone",
		"20201224\nRRULE:FREQ=YEARLY;UNTIL=20261230T230000Z": "2025-12-24, 2026-12-24",
		// Dense rules and old starts (K11, K12).
		"19700101\nRRULE:FREQ=SECONDLY":           "left out: RRULE:FREQ=SECONDLY: SECONDLY is not for days",
		"17000704\nRRULE:FREQ=YEARLY":             "2025-07-04, 2026-07-04, 2027-07-04, 2028-07-04",
		"00010102\nRRULE:FREQ=DAILY;COUNT=700000": "",
	} {
		got := read(t, calendarOf("DTSTART;VALUE=DATE:"+event))
		if got != want && (!strings.Contains(got, " left out: ") || !strings.Contains(got, want) || want == "" || want[0] == '2') {
			t.Errorf("%s\n%q, want %q", event, got, want)
		}
	}
}

// Events of one UID (K3): an override takes its occurrence out of the series, and what is not understood goes with its whole
// series.
func TestReadOfASeries(t *testing.T) {
	t.Parallel()
	const weekly = "UID:a\nSUMMARY:Team\nDTSTART:20261130\nRRULE:FREQ=WEEKLY;COUNT=3"
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"cancelled":         {[]string{weekly, "UID:a\nRECURRENCE-ID;VALUE=DATE:20261207\nDTSTART:20261207\nSTATUS:CANCELLED"}, "2026-11-30 Team, 2026-12-14 Team"},
		"moved":             {[]string{"UID:a\nRECURRENCE-ID:20261207\nDTSTART:20261208\nSUMMARY:Later", weekly}, "2026-11-30 Team, 2026-12-08 Later, 2026-12-14 Team"},
		"alone":             {[]string{"UID:a\nRECURRENCE-ID:20261207\nDTSTART:20261208"}, "2026-12-08"},
		"all cancelled":     {[]string{weekly + "\nSTATUS:CANCELLED", "UID:a\nRECURRENCE-ID:20261207\nDTSTART:20261208"}, ""},
		"this and future":   {[]string{weekly, "UID:a\nRECURRENCE-ID;RANGE=THISANDFUTURE:20261207\nDTSTART:20261208"}, `"Team" of 20261130 left out: RECURRENCE-ID has RANGE=THISANDFUTURE; only whole days are read`},
		"an override's day": {[]string{weekly, "UID:a\nRECURRENCE-ID:20261207\nDTSTART:20261208T100000Z"}, `"Team" of 20261130 left out: DTSTART:20261208T100000Z is not a day; only whole days are read`},
		"two overrides":     {[]string{weekly, "UID:a\nRECURRENCE-ID:20261207\nDTSTART:20261208", "UID:a\nRECURRENCE-ID:20261207\nDTSTART:20261209"}, `"Team" of 20261130 left out: two events change its day 2026-12-07`},
		"two versions":      {[]string{weekly, "UID:a\nSEQUENCE:1\nDTSTART:20261201"}, `"Team" of 20261130 left out: several events have its UID`},
		"one UID for all":   {[]string{"UID:a\nDTSTART:20261225", "UID:a\nDTSTART:20261226\nDURATION:PT1H", "UID:a\nDTSTART:20270101"}, `2026-12-25, 2027-01-01, "" of 20261226 left out: DURATION:PT1H is not in days`},
		"no UID":            {[]string{"DTSTART:20261225", "UID:\nDTSTART:20261226", "DTSTART:20261225"}, "2026-12-25, 2026-12-26"},
		"others":            {[]string{"UID:b\nSUMMARY:x\nDTSTART:20261201T100000Z", weekly}, `2026-11-30 Team, 2026-12-07 Team, 2026-12-14 Team, "x" of 20261201T100000Z left out: DTSTART:20261201T100000Z is not a day; only whole days are read`},
	} {
		if got := read(t, calendarOf(c.events...)); got != c.want {
			t.Errorf("%s: %q\nwant %q", name, got, c.want)
		}
	}
}

// What is about a file as a whole.
func TestReadOfAFile(t *testing.T) {
	t.Parallel()
	event := calendarOf("DTSTART:20261224\nSUMMARY:x")
	for name, c := range map[string]struct{ file, want string }{
		"cut events":       {strings.Replace(calendarOf("DTSTART:20261224", "DTSTART:20261225"), "END:VEVENT\n", "", 1), `2026-12-25, "" of 20261224 left out: it, or a component in it, has no END`},
		"two calendars":    {event + calendarOf("DTSTART:20261225"), "2026-12-24 x, 2026-12-25"},
		"other components": {strings.Replace(event, "BEGIN:VEVENT", "BEGIN:VTIMEZONE\nBEGIN:STANDARD\nDTSTART:19701025T030000\nRRULE:FREQ=YEARLY;BYMONTH=10\nEND:STANDARD\nEND:VTIMEZONE\nBEGIN:VTODO\nDTSTART:20261230\nEND:VTODO\nBEGIN:VEVENT", 1), "2026-12-24 x"},
		"it cancels":       {strings.Replace(event, "VERSION:2.0", "METHOD:cancel", 1), "error: METHOD:CANCEL is not supported"},
		"too many days":    {calendarOf(strings.Repeat("DTSTART:20250101\nRRULE:FREQ=DAILY\nEND:VEVENT\nBEGIN:VEVENT\n", 100) + "DTSTART:20250101"), "error: it has more than 100000 days; split it"},
		"no UTF-8":         {calendarOf("DTSTART:20261224\nSUMMARY:M\xe4rz\x00"), "2026-12-24 M?rz"},
		"a long summary":   {calendarOf("DTSTART:20261224\nSUMMARY:" + strings.Repeat("ä", 300)), "2026-12-24 " + strings.Repeat("ä", 254)},
	} {
		if got := read(t, c.file); got != c.want {
			t.Errorf("%s: %.200q\nwant %.200q", name, got, c.want)
		}
	}
}

// A signal ends it.
func TestReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Read(ctx, calendarOf("DTSTART:20261224"), "n", from, to); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s := seriesOf([]*event{{}})[0]
	if rows, err := s.days(ctx, from, to); len(rows) > 0 || err == nil {
		t.Errorf("an event without DTSTART: %v, %v", rows, err)
	}
}

// No text is too odd.
func FuzzRead(f *testing.F) {
	f.Add("DTSTART;VALUE=DATE:20261224\nDTEND:20261226\nRRULE:FREQ=YEARLY;BYDAY=-1MO;BYSETPOS=2\nEXDATE:20271224")
	f.Add("DTSTART:20261224\nRRULE:FREQ=WEEKLY;BYWEEKNO=53,-1;WKST=SU;INTERVAL=9\nRDATE:20270101")
	f.Add("UID:a\nDTSTART:20261224\nRECURRENCE-ID:20261223\nEND:VEVENT\nBEGIN:VEVENT\nUID:a\nDTSTART:20261223\nRRULE:FREQ=DAILY;BYYEARDAY=366,-366")
	f.Fuzz(func(t *testing.T, event string) {
		rows, _, _ := Read(t.Context(), calendarOf(event), "n", from, to)
		for _, r := range rows {
			if err := r.Validate(); err != nil {
				t.Fatalf("%+v: %v", r, err)
			}
		}
	})
}
