package calendar

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The reference finds elapses the slow way: it looks at every minute of a wall clock, asks a
// predicate, and places the minute with the means of package time alone.

// slowTimer is a timer with a predicate for the minutes at which it elapses.
type slowTimer struct {
	text      string
	everyHour bool
	matches   func(t time.Time) bool
}

// slowList is a random field: its text and its members.
func slowList(r *rand.Rand, low, high int) (text string, has [60]bool) {
	if r.IntN(3) == 0 {
		for v := low; v <= high; v++ {
			has[v] = true
		}
		return "*", has
	}
	var items []string
	for range 1 + r.IntN(3) {
		start := low + r.IntN(high-low)
		step := 1 + r.IntN(high-start)
		if r.IntN(2) == 0 {
			step = 100
			items = append(items, strconv.Itoa(start))
		} else {
			items = append(items, strconv.Itoa(start)+"/"+strconv.Itoa(step))
		}
		for v := start; v <= high; v += step {
			has[v] = true
		}
	}
	return strings.Join(items, ","), has
}

func slowEvent(r *rand.Rand) slowTimer {
	var weekdays [7]bool
	names := ""
	if r.IntN(4) == 0 {
		d := time.Weekday(r.IntN(7))
		weekdays[d] = true
		names = d.String() + " "
	} else {
		weekdays = [7]bool{true, true, true, true, true, true, true}
	}
	monthText, months := slowList(r, 1, 12)
	dayText, days := slowList(r, 1, 31)
	hourText, hours := slowList(r, 0, 23)
	minuteText, minutes := slowList(r, 0, 59)
	if r.IntN(2) == 0 {
		monthText, dayText = "*", "*"
		months, days = [60]bool{}, [60]bool{}
		for i := range months {
			months[i], days[i] = true, true
		}
	}
	return slowTimer{
		text:      names + "*-" + monthText + "-" + dayText + " " + hourText + ":" + minuteText,
		everyHour: !slices.Contains(hours[:24], false),
		matches: func(t time.Time) bool {
			return weekdays[t.Weekday()] && months[t.Month()] && days[t.Day()] && hours[t.Hour()] && minutes[t.Minute()]
		},
	}
}

// between lists the elapses in a stretch of time, the ends included.
func (s slowTimer) between(zone *time.Location, from, to time.Time) (list []time.Time) {
	for w := from.Add(-48 * time.Hour); w.Before(to.Add(48 * time.Hour)); w = w.Add(time.Minute) {
		if s.matches(w) {
			list = append(list, place(zone, w, s.everyHour)...)
		}
	}
	list = slices.DeleteFunc(list, func(t time.Time) bool { return t.Before(from) || t.After(to) })
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}

// place returns the instants at which a zone's clock shows what w shows in UTC, according to the
// rules of the package.
func place(zone *time.Location, w time.Time, twice bool) (list []time.Time) {
	offset := func(t time.Time) time.Duration {
		_, seconds := t.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	for _, near := range []time.Duration{-36 * time.Hour, 36 * time.Hour} {
		at := w.Add(-offset(w.Add(near)))
		if offset(at) == w.Sub(at) {
			list = append(list, at)
		}
	}
	if list == nil { // left out: the offset before the change
		return []time.Time{w.Add(-offset(w.Add(-36 * time.Hour)))}
	}
	slices.SortFunc(list, time.Time.Compare)
	if !twice {
		list = list[:1]
	}
	return list
}

// changes are places and times at which clocks have been changed in every odd way there is.
var changes = []struct{ zone, at string }{
	{"Europe/Berlin", "2026-03-29T01:00:00Z"}, {"Europe/Berlin", "2026-10-25T01:00:00Z"},
	{"America/New_York", "2026-03-08T07:00:00Z"}, {"America/New_York", "2026-11-01T06:00:00Z"},
	{"Australia/Lord_Howe", "2026-04-04T15:00:00Z"}, {"Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
	{"Pacific/Apia", "2011-12-30T10:00:00Z"}, {"Pacific/Kwajalein", "1993-08-21T12:00:00Z"},
	{"Europe/Dublin", "2026-03-29T01:00:00Z"}, {"Europe/Dublin", "2026-10-25T01:00:00Z"},
	{"Africa/Cairo", "2026-04-23T22:00:00Z"}, {"Africa/Cairo", "2026-10-29T21:00:00Z"},
	{"America/Sao_Paulo", "2018-02-18T02:00:00Z"}, {"America/Sao_Paulo", "2018-11-04T03:00:00Z"},
	{"America/Santiago", "2026-04-05T03:00:00Z"}, {"America/Santiago", "2026-09-06T04:00:00Z"},
	{"America/St_Johns", "2011-03-13T03:31:00Z"}, {"America/St_Johns", "2010-11-07T02:31:00Z"},
	{"Asia/Pyongyang", "2018-05-04T15:00:00Z"}, {"Africa/Casablanca", "2026-02-15T02:00:00Z"},
	{"Antarctica/Troll", "2026-03-29T01:00:00Z"}, {"Antarctica/Troll", "2026-10-25T01:00:00Z"},
	{"Antarctica/Vostok", "1994-01-31T17:00:00Z"}, {"Antarctica/Vostok", "1994-11-01T00:00:00Z"},
	{"Europe/Berlin", "2150-03-29T01:00:00Z"}, {"Asia/Gaza", "2026-03-28T00:00:00Z"},
}

func TestElapsesAroundChangesOfTheClock(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range changes {
		for range 25 {
			slow := slowEvent(r)
			s, err := Parse(slow.text + " " + c.zone)
			if err != nil {
				t.Errorf("Parse(%q): %v", slow.text, err)
				continue
			}
			checkAgainst(t, s, slow, c.zone, c.at)
		}
	}
}

// elapser is a schedule, or what is left of one without its text.
type elapser interface {
	Next(time.Time) time.Time
	Prev(time.Time) time.Time
}

// checkAgainst compares all elapses around a change of a clock with the reference.
func checkAgainst(t *testing.T, s elapser, slow slowTimer, zone, change string) {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, change)
	if err != nil {
		t.Fatal(err)
	}
	from, to := at.Add(-30*time.Hour), at.Add(30*time.Hour)
	want := slow.between(location, from, to)
	if got := forward(s, from, to); !slices.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("%s around %s %s: Next gives\n%v, want\n%v", slow.text, zone, change, got, want)
	}
	if got := backward(s, from, to); !slices.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("%s around %s %s: Prev gives\n%v, want\n%v", slow.text, zone, change, got, want)
	}
}

// forward lists the elapses from one time to another with Next, the ends included.
func forward(s elapser, from, to time.Time) (list []time.Time) {
	for at := s.Next(from.Add(-1)); !at.IsZero() && !at.After(to); at = s.Next(at) {
		list = append(list, at)
	}
	return list
}

// backward does the same with Prev.
func backward(s elapser, from, to time.Time) (list []time.Time) {
	for at := s.Prev(to.Add(1)); !at.IsZero() && !at.Before(from); at = s.Prev(at) {
		list = append(list, at)
	}
	slices.Reverse(list)
	return list
}
