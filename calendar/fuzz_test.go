package calendar

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/adhocore/gronx"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// The seeds of the corpus in testdata/fuzz are timers that once were, or could have been, treated
// wrongly.

func FuzzParse(f *testing.F) {
	for _, timer := range []string{"Mon..Fri *-*-* 9..17:0/15 Europe/Berlin", "*-*~07/1", "@1798761600", "12:00:00.5..2/0.25",
		"0 2 1W,L * 5#2,1L 2030", "CRON_TZ=UTC @daily", "every 1h30m from 2026-01-31 02:00 Asia/Tokyo", "5 0 0 0", ""} {
		f.Add(timer)
	}
	at := time.Date(2026, 3, 28, 10, 7, 3, 5, time.UTC)
	f.Fuzz(func(t *testing.T, timer string) {
		s, err := Parse(timer)
		if err != nil {
			var wrong *ParseError
			if !errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(timer) || wrong.Msg == "" {
				t.Fatalf("Parse(%q): %#v", timer, err)
			}
			if lines := strings.Count(wrong.Caret(), "\n"); lines != 1 {
				t.Fatalf("Parse(%q): the caret has %d lines", timer, lines+1)
			}
			return
		}
		if err := errors.Join(sameSchedule(s, at), properties(s, at)); err != nil {
			t.Fatalf("%q: %v", timer, err)
		}
	})
}

func FuzzEvent(f *testing.F) {
	for _, row := range append(readVectors(f, "calev.tsv"), readVectors(f, "systemd.tsv")[:300]...) {
		f.Add(row.timer, row.base.Unix())
	}
	f.Fuzz(func(t *testing.T, timer string, unix int64) {
		if len(timer) <= MaxLength {
			s, err := parseEvent(cut(timer))
			fuzzAt(t, timer, s, err, unix)
		}
	})
}

func FuzzCron(f *testing.F) {
	for _, timer := range []string{"* * * * *", "0 2 1W,L * 5#2,1L 2030", "*/7 1-5/2 0/3 JAN-MAR,DEC 5-7", "0 0 13 * */5"} {
		f.Add(timer, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, timer string, unix int64) {
		if words := cut(timer); len(timer) <= MaxLength && words.isCron() {
			s, err := parseCron(words)
			if err == nil && !gronx.IsValid(s.(*cron).text) {
				t.Fatalf("%q: gronx refuses %q", timer, s.(*cron).text)
			}
			fuzzAt(t, timer, s, err, unix)
		}
	})
}

func FuzzInterval(f *testing.F) {
	for _, timer := range []string{"15m", "36h", "1 month from 2026-01-31", "95 years", "1 day Pacific/Apia", "23s Africa/Monrovia"} {
		f.Add(timer, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, timer string, unix int64) {
		if timer = "every " + timer; len(timer) <= MaxLength {
			s, err := parseInterval(cut(timer), time.Time{})
			fuzzAt(t, timer, s, err, unix)
		}
	})
}

// fuzzAt checks a schedule at any time at all.
func fuzzAt(t *testing.T, timer string, s Schedule, err error, unix int64) {
	t.Helper()
	if err != nil {
		return
	}
	at := time.Unix(unix%(1<<50), unix&0xfffffff)
	if err := errors.Join(sameSchedule(s, at), properties(s, at)); err != nil {
		t.Fatalf("%q: %v", timer, err)
	}
}

// FuzzNext looks for elapses that are lost or doubled where clocks change: everything between two
// minutes is found by looking at each of them.
func FuzzNext(f *testing.F) {
	f.Add(uint8(0), uint32(1<<2), uint64(1<<30), uint32(0), uint8(0))
	f.Add(uint8(4), uint32(1<<24-1), uint64(1<<15|1<<45), uint32(0), uint8(0))
	f.Add(uint8(12), uint32(1<<24-1), uint64(1<<30), uint32(1<<17), uint8(0)) // the last hour of a day occurs twice
	f.Add(uint8(6), uint32(1<<0|1<<4), uint64(1<<30), uint32(1<<30|1<<31), uint8(0))
	f.Fuzz(func(t *testing.T, where uint8, hours uint32, minutes uint64, days uint32, weekdays uint8) {
		c := changes[int(where)%len(changes)]
		z, err := elapse.ZoneNamed(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		rule := elapse.EventDays{Weekdays: weekdays & elapse.AllWeekdays, Days: days & elapse.AllMonthdays}
		if rule.Weekdays == 0 {
			rule.Weekdays = elapse.AllWeekdays
		}
		if rule.Days == 0 {
			rule.Days = elapse.AllMonthdays
		}
		times := elapse.Clock{Hours: hours & (1<<24 - 1), Minutes: minutes & (1<<60 - 1), Seconds: 1}
		if times.Hours == 0 || times.Minutes == 0 {
			return
		}
		elapses := elapse.NewSet(elapse.DateRule{Years: elapse.EveryYear(), Months: 1<<13 - 2, Days: rule}, times, z)
		slow := slowTimer{everyHour: times.EveryHour(), matches: func(t time.Time) bool {
			return elapse.HasBit(uint64(times.Hours), t.Hour()) && elapse.HasBit(times.Minutes, t.Minute()) &&
				elapse.HasBit(uint64(rule.Days), t.Day()) && elapse.HasBit(uint64(rule.Weekdays), (int(t.Weekday())+6)%7)
		}}
		checkAgainst(t, &elapses, slow, c.zone, c.at)
	})
}
