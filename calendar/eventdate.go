package calendar

import "github.com/nextrun/nextrun/calendar/internal/elapse"

// date reads year-month-day or month-day, with ~ in place of the last dash for days from the end of
// the month. What turns out to be a time is left in place.
func (s *eventParser) date(spec *eventSpec) error {
	var parts [3]datePart
	n, err := s.dateParts(&parts, spec)
	if n == 0 || err != nil {
		return err
	}
	s.skipSpaces()
	if n == 3 {
		if spec.years, err = s.checked(parts[0].fullYears(), yearField, parts[0].at); err != nil {
			return err
		}
	}
	month, days := parts[n-2], parts[n-1]
	if spec.months, err = s.checked(month.Chain, monthField, month.at); err != nil {
		return err
	}
	field := dayField
	if spec.fromEnd {
		field = fromEndField
	}
	spec.days, err = s.checked(days.Chain, field, days.at)
	return err
}

// datePart is a part of a date. Whether it is a year or a month is known when the date is over.
type datePart struct {
	elapse.Chain
	at int
}

// dateParts reads the parts and returns their number, 0 when there is no date.
func (s *eventParser) dateParts(parts *[3]datePart, spec *eventSpec) (n int, err error) {
	if s.done() {
		return 0, nil
	}
	start := s.pos
	for {
		at := s.pos
		c, err := s.chain(1)
		if err != nil {
			return 0, err
		}
		if n == 0 && s.peek() == ':' {
			s.pos = start
			return 0, nil
		}
		parts[n] = datePart{c, at}
		n++
		if n > 1 && s.partDone() {
			return n, nil
		}
		switch {
		case n == 3 || spec.fromEnd:
			return 0, s.fail("expected a space and a time after the day, found %s", s.found())
		case s.take("~"):
			spec.fromEnd = true
		case !s.take("-"):
			return 0, s.fail("expected `-` or `~` in a date or `:` in a time, found %s", s.found())
		}
	}
}

// fullYears completes years of two digits: 70 to 99 belong to the last century.
func (p datePart) fullYears() elapse.Chain {
	full := func(y int64) int64 {
		switch {
		case y < 0 || y >= 100:
			return y
		case y < 70:
			return 2000 + y
		}
		return 1900 + y
	}
	for i := range p.Chain {
		p.Chain[i].Start, p.Chain[i].Stop = full(p.Chain[i].Start), full(p.Chain[i].Stop)
	}
	return p.Chain
}

// time reads hours:minutes[:seconds]; it is midnight when nothing is left.
func (s *eventParser) time(spec *eventSpec) (err error) {
	zero := elapse.Chain{elapse.One(0)}
	spec.hours, spec.minutes, spec.seconds = zero, zero, zero
	if s.done() {
		return nil
	}
	if spec.hours, err = s.field(hourField); err != nil {
		return err
	}
	if !s.take(":") {
		return s.fail("expected `:` and minutes after the hour, found %s", s.found())
	}
	if spec.minutes, err = s.field(minuteField); err != nil || s.done() {
		return err
	}
	if !s.take(":") {
		return s.fail("expected `:` and seconds after the minutes, or the end, found %s", s.found())
	}
	if spec.seconds, err = s.field(secondField); err != nil || s.done() {
		return err
	}
	return s.fail("expected the end of the timer after the seconds, found %s", s.found())
}

func (s *eventParser) field(f eventField) (elapse.Chain, error) {
	at := s.pos
	c, err := s.chain(f.unit)
	if err != nil {
		return nil, err
	}
	return s.checked(c, f, at)
}

// epoch reads `@` and seconds since 1970-01-01T00:00:00Z: an event that elapses once.
func (s *eventParser) epoch(spec *eventSpec) error {
	at := s.pos
	s.pos++
	n, err := s.number(1)
	if err != nil {
		return err
	}
	if !s.done() {
		return s.fail("expected the end of the timer after the seconds since 1970")
	}
	if elapse.Wall(n) > elapse.LastWall/elapse.Second {
		return s.failAt(at, "seconds since 1970 must not go beyond the year %d", elapse.LastYear)
	}
	days, clock := (elapse.Wall(n) * elapse.Second).Split()
	d := elapse.DateOf(days)
	only := func(v int64) elapse.Chain { return elapse.Chain{elapse.One(v)} }
	spec.years, spec.months, spec.days = only(int64(d.Year)), only(int64(d.Month)), only(int64(d.Day))
	spec.hours, spec.minutes = only(int64(clock/elapse.Hour)), only(int64(clock%elapse.Hour/elapse.Minute))
	spec.seconds = only(int64(clock % elapse.Minute))
	spec.zone = "UTC"
	return nil
}
