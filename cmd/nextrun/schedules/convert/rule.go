package convert

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// rule is a timer that elapses at minutes of days.
type rule struct {
	minutes, hours, days, months, weekdays set  // weekdays from 0 for Sunday
	lastDay                                bool // the last day of the month, in place of days
	either                                 bool // a day matches days or weekdays, if both are restricted
}

func newRule() rule {
	return rule{
		minutes: set{low: 0, high: 59}, hours: set{low: 0, high: 23}, days: set{low: 1, high: 31}, months: set{low: 1, high: 12},
		weekdays: set{low: 0, high: 6},
	}
}

// Zone is the zone of a timer: the name of one, or an offset.
func Zone(timer string) (string, error) {
	s, err := calendar.Parse(timer)
	if err != nil {
		return "", err
	}
	return calendar.Location(s).String(), nil
}

// ruleOf reads the normal form of a timer.
func ruleOf(timer string) (rule, error) {
	s, err := calendar.Parse(timer)
	if err != nil {
		return rule{}, err
	}
	words := strings.Fields(s.String())
	if strings.HasPrefix(words[0], "CRON_TZ=") {
		words = words[1:]
	}
	switch {
	case words[0] == "every":
		return rule{}, fmt.Errorf("an interval has no equivalent")
	case len(words) >= 5:
		return cronRule(words)
	}
	return eventRule(words)
}

func cronRule(words []string) (rule, error) {
	if len(words) != 5 {
		return rule{}, fmt.Errorf("seconds and years have no equivalent")
	}
	r := newRule()
	day, weekday := words[2], words[4]
	if day == "L" {
		r.lastDay, day = true, "*"
	}
	sevens := set{low: 0, high: 7}
	for _, field := range []struct {
		set  *set
		text string
	}{{&r.minutes, words[0]}, {&r.hours, words[1]}, {&r.days, day}, {&r.months, words[3]}, {&sevens, weekday}} {
		if err := field.set.parse(field.text, "-"); err != nil {
			return r, err
		}
	}
	if strings.Contains(weekday, "*/") || weekday == "*" || weekday == "?" {
		sevens.bits &^= 1 << 7 // a star ends with Saturday
	}
	r.weekdays.bits = sevens.bits&0x7f | sevens.bits>>7&1
	r.either = !strings.HasPrefix(words[2], "*") && words[2] != "?" && !strings.HasPrefix(weekday, "*") && weekday != "?"
	return r, nil
}

var weekdayNames = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// eventRule reads [weekdays] year-month-day hour:minute:second [zone].
func eventRule(words []string) (r rule, err error) {
	r = newRule()
	if strings.ContainsAny(words[0][:1], "MTWFS") {
		if r.weekdays.bits, err = weekdaysOf(words[0]); err != nil {
			return r, err
		}
		words = words[1:]
	} else {
		r.weekdays.bits = 0x7f
	}
	if len(words) < 2 {
		return r, fmt.Errorf("%q has no equivalent", words)
	}
	date := strings.Replace(words[0], "~01", "-~01", 1)
	parts, clock := strings.SplitN(date, "-", 3), strings.Split(words[1], ":")
	switch {
	case len(parts) != 3 || len(clock) != 3:
		return r, fmt.Errorf("%q has no equivalent", words[0])
	case parts[0] != "*":
		return r, fmt.Errorf("a year has no equivalent")
	case clock[2] != "00":
		return r, fmt.Errorf("seconds have no equivalent")
	}
	if parts[2] == "~01" {
		r.lastDay, parts[2] = true, "*"
	}
	for _, field := range []struct {
		set  *set
		text string
	}{{&r.minutes, clock[1]}, {&r.hours, clock[0]}, {&r.days, parts[2]}, {&r.months, parts[1]}} {
		if err := field.set.parse(field.text, ".."); err != nil {
			return r, err
		}
	}
	return r, nil
}

func weekdaysOf(text string) (bits uint64, err error) {
	for item := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(item, "..")
		if !ranged {
			last = first
		}
		from, to := slices.Index(weekdayNames, first), slices.Index(weekdayNames, last)
		if from < 0 || to < 0 {
			return 0, fmt.Errorf("%q has no equivalent", item)
		}
		for d := from; ; d = (d + 1) % 7 {
			bits |= 1 << d
			if d == to {
				break
			}
		}
	}
	return bits, nil
}

// Same reports whether some timers together elapse as one does.
func Same(timer string, others ...string) bool {
	one, err := calendar.Parse(timer)
	if err != nil {
		return false
	}
	var list []calendar.Schedule
	for _, other := range others {
		s, err := calendar.Parse(other)
		if err != nil {
			return false
		}
		list = append(list, s)
	}
	const starts, elapses = 30, 100
	for n := range starts {
		at := time.Date(2026, time.Month(1+n), 1+n%28, n%24, 0, 0, 0, time.UTC)
		for range elapses {
			var next time.Time
			for _, s := range list {
				if t := s.Next(at); !t.IsZero() && (next.IsZero() || t.Before(next)) {
					next = t
				}
			}
			if at = one.Next(at); !at.Equal(next) {
				return false
			}
			if at.IsZero() {
				break
			}
		}
	}
	return true
}

// Every is the length of an interval that is always the same.
func Every(timer string) (d time.Duration, ok bool) {
	s, err := calendar.Parse(timer)
	if err != nil || !strings.HasPrefix(s.String(), "every ") || strings.Contains(timer, " from ") {
		return 0, false
	}
	at := s.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for n := range 60 {
		next := s.Next(at)
		if n > 0 && next.Sub(at) != d {
			return 0, false
		}
		d, at = next.Sub(at), next
	}
	return d, true
}
