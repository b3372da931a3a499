package explain_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/explain"
)

func mustParse(t testing.TB, timer string) calendar.Schedule {
	t.Helper()
	s, err := calendar.Parse(timer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// timers returns the calendar events of the reference vectors that are valid.
func timers(t testing.TB) (list []string) {
	t.Helper()
	table, err := os.ReadFile("../../testdata/calendar/systemd.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(table)) {
		if columns := strings.Split(row, "\t"); len(columns) > 3 && columns[2] != "!" {
			list = append(list, columns[0])
		}
	}
	if len(list) < 100 {
		t.Fatalf("the table has %d valid timers only", len(list))
	}
	return list
}

// foreign is a schedule that another package has made. It elapses every second.
type foreign struct{}

func (foreign) Next(after time.Time) time.Time  { return after.Truncate(time.Second).Add(time.Second) }
func (foreign) Prev(before time.Time) time.Time { return before.Add(-1).Truncate(time.Second) }
func (foreign) String() string                  { return "always" }

func FuzzSchedule(f *testing.F) {
	for _, timer := range append(timers(f), "0 2 1W,L * 5#2,1L 2030", "*/7 1-5/2 0/3 JAN-MAR,DEC 5-7",
		"every 1h30m from 2026-01-31 02:00 Asia/Tokyo", "every month from 2026-01-31 Europe/Berlin") {
		f.Add(timer)
	}
	at := time.Date(2026, 3, 28, 10, 7, 3, 5, time.UTC)
	f.Fuzz(func(t *testing.T, timer string) {
		s, err := calendar.Parse(timer)
		if err != nil {
			return
		}
		text := explain.Schedule(s)
		if text == "" || text != strings.TrimSpace(text) || strings.Contains(text, "  ") {
			t.Fatalf("%q is explained as %q", timer, text)
		}
		for _, finding := range explain.Lint(s, at) {
			if finding.Code == "" || finding.Message == "" {
				t.Fatalf("%q has an empty finding", timer)
			}
		}
	})
}
