package calendar

import (
	"strings"
)

// parseEvent reads a calendar event: [weekdays] [date] [time] [zone], or a shorthand such as daily.
func parseEvent(timer string) (Schedule, error) {
	s := &scanner{timer: timer, end: len(timer)}
	e := &event{}
	z, err := s.zoneSuffix(&e.spec)
	if err != nil {
		return nil, err
	}
	e.zone = z
	if err := s.event(&e.spec); err != nil {
		return nil, err
	}
	if e.spec.zone == "UTC" {
		e.zone = utc
	}
	e.table = e.spec.compile()
	return e, nil
}

// zoneSuffix takes a zone off the end, if the last word is one.
func (s *scanner) zoneSuffix(spec *eventSpec) (*zone, error) {
	space := strings.LastIndexByte(s.timer, ' ')
	if space < 0 {
		return utc, nil
	}
	word := s.timer[space+1:]
	if word == "" || !isLetter(word[0]) || space == 0 {
		return utc, nil
	}
	z, err := zoneNamed(word)
	if err != nil {
		return nil, s.failAt(space+1, "%v", err)
	}
	spec.zone = word
	if z == utc {
		spec.zone = "UTC"
	}
	s.end = space
	return z, nil
}

// event reads what is left after the zone.
func (s *scanner) event(spec *eventSpec) error {
	if s.done() {
		return s.fail("the timer is empty")
	}
	if short, ok := shorthands[strings.ToLower(s.rest())]; ok {
		inner := &scanner{timer: short, end: len(short)}
		return inner.event(spec)
	}
	if err := s.weekdays(spec); err != nil {
		return err
	}
	if s.peek() == '@' {
		return s.epoch(spec)
	}
	if err := s.date(spec); err != nil {
		return err
	}
	return s.clock(spec)
}

// shorthands are the names that systemd.time(7) gives to common events.
var shorthands = map[string]string{
	"minutely":      "*-*-* *:*:00",
	"hourly":        "*-*-* *:00:00",
	"daily":         "*-*-* 00:00:00",
	"weekly":        "Mon *-*-* 00:00:00",
	"monthly":       "*-*-01 00:00:00",
	"quarterly":     "*-01,04,07,10-01 00:00:00",
	"semiannually":  "*-01,07-01 00:00:00",
	"semi-annually": "*-01,07-01 00:00:00",
	"biannually":    "*-01,07-01 00:00:00",
	"bi-annually":   "*-01,07-01 00:00:00",
	"yearly":        "*-01-01 00:00:00",
	"annually":      "*-01-01 00:00:00",
	"anually":       "*-01-01 00:00:00",
}

// weekdays reads the list of weekdays in front, if there is one.
func (s *scanner) weekdays(spec *eventSpec) error {
	open, set := -1, uint8(0)
	for first := true; ; first = false {
		d, ok := s.weekday()
		if !ok {
			if first {
				return nil
			}
			return s.fail("expected a weekday such as Mon or Monday")
		}
		if open > d {
			return s.fail("the range ends before it starts; a week runs from Mon to Sun")
		}
		if open < 0 {
			open = d
		}
		set |= uint8(bitRange(open, d))
		ranged := open < d
		open = -1
		switch {
		case s.done() || s.peek() == ' ':
		case s.take(".."), s.take("-"):
			if ranged {
				return s.fail("a range has two ends only")
			}
			open = d
			continue
		case s.take(","):
		default:
			return s.fail("expected a comma, `..` or a space after the weekday")
		}
		if s.done() || s.peek() == ' ' {
			s.skipSpaces()
			if set != allWeekdays {
				spec.weekdays = set
			}
			return nil
		}
	}
}

// weekday reads a name in any case, in full or its first three letters.
func (s *scanner) weekday() (int, bool) {
	for d, name := range weekdayNames {
		if s.takeFold(name) || s.takeFold(name[:3]) {
			return d, true
		}
	}
	return 0, false
}

// date reads year-month-day or month-day, with ~ in place of the last dash for days from the end of the month. What
// turns out to be a time is left in place.
func (s *scanner) date(spec *eventSpec) error {
	if s.done() {
		return nil
	}
	start := s.pos
	var parts [3]chain
	var at [3]int
	n := 0
	for {
		at[n] = s.pos
		c, err := s.chain(1)
		if err != nil {
			return err
		}
		parts[n] = c
		n++
		if n == 1 && s.peek() == ':' {
			s.pos = start
			return nil
		}
		if n > 1 && (s.done() || s.peek() == ' ') {
			break
		}
		if n == 3 {
			return s.fail("expected a space and a time after the date")
		}
		switch {
		case spec.fromEnd:
			return s.fail("expected a space and a time after the day")
		case s.take("~"):
			spec.fromEnd = true
		case !s.take("-"):
			return s.fail("expected `-` or `~` in a date, or `:` in a time")
		}
	}
	s.skipSpaces()
	if n == 3 {
		spec.years = fixYears(parts[0]).normalize()
		if err := s.check(spec.years, "year", firstYear, lastYear, at[0]); err != nil {
			return err
		}
	}
	spec.months, spec.days = parts[n-2].normalize(), parts[n-1].normalize()
	if err := s.check(spec.months, "month", 1, 12, at[n-2]); err != nil {
		return err
	}
	if spec.fromEnd {
		return s.checkFromEnd(spec.days, at[n-1])
	}
	return s.check(spec.days, "day", 1, 31, at[n-1])
}

// fixYears completes years of two digits: 70 to 99 belong to the last century.
func fixYears(c chain) chain {
	for i := range c {
		c[i].start, c[i].stop = fullYear(c[i].start), fullYear(c[i].stop)
	}
	return c
}

func fullYear(y int64) int64 {
	switch {
	case y < 0 || y >= 100:
		return y
	case y < 70:
		return 2000 + y
	}
	return 1900 + y
}

// clock reads hours:minutes[:seconds]; midnight when nothing is left.
func (s *scanner) clock(spec *eventSpec) error {
	zero := chain{{0, -1, 0}}
	spec.hours, spec.minutes, spec.seconds = zero, zero, zero
	if s.done() {
		return nil
	}
	var err error
	if spec.hours, err = s.field("hour", 23, 1); err != nil {
		return err
	}
	if !s.take(":") {
		return s.fail("expected `:` and minutes after the hour")
	}
	if spec.minutes, err = s.field("minute", 59, 1); err != nil || s.done() {
		return err
	}
	if !s.take(":") {
		return s.fail("expected `:` and seconds after the minutes, or the end")
	}
	if spec.seconds, err = s.field("second", 60*int64(second)-1, int64(second)); err != nil {
		return err
	}
	if !s.done() {
		return s.fail("expected the end of the timer")
	}
	return nil
}

func (s *scanner) field(name string, high, unit int64) (chain, error) {
	at := s.pos
	c, err := s.chain(unit)
	if err != nil {
		return nil, err
	}
	c = c.normalize()
	return c, s.check(c, name, 0, high, at)
}
