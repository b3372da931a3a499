package calendar

// event is a calendar event as systemd.time(7) describes it: the components as they were written, in normal form, and
// what they compile to.
type event struct {
	ticker
	spec eventSpec
}

type eventSpec struct {
	weekdays       uint8 // bit 0 is Monday; 0 when there is no restriction
	years, months  chain
	days           chain
	fromEnd        bool // days count from the end of the month
	hours, minutes chain
	seconds        chain  // in microseconds; a nil chain is not used, `*` is 0/1s
	zone           string // as written, "" for none
}

const allWeekdays = 1<<7 - 1

// rule returns the days of a spec that has been checked.
func (s *eventSpec) rule() dateRule {
	rule := dateRule{months: uint16(s.months.set(1, 12)), days: s.dayRule()}
	for y := int64(firstYear); y <= lastYear; y++ {
		if s.years == nil || s.years.has(y) {
			rule.years.add(int(y))
		}
	}
	return rule
}

// clock returns the times of day of a spec that has been checked.
func (s *eventSpec) clock() clock {
	c := clock{hours: uint32(s.hours.set(0, 23)), minutes: s.minutes.set(0, 59)}
	if s.seconds.whole(int64(second)) {
		c.seconds = s.seconds.divide(int64(second)).set(0, 59)
	} else {
		c.parts = s.seconds
	}
	return c
}

func (s *eventSpec) dayRule() eventDays {
	rule := eventDays{weekdays: s.weekdays}
	if rule.weekdays == 0 {
		rule.weekdays = allWeekdays
	}
	if s.fromEnd && s.days != nil {
		rule.fromEnd = s.daysFromEnd()
	} else {
		rule.days = uint32(s.days.set(1, 31))
	}
	return rule
}

// daysFromEnd returns the days as a set of numbers that count back from the end of the month, the last day being 1. A
// repetition starts at the earliest day and goes on towards the end of the month.
func (s *eventSpec) daysFromEnd() uint32 {
	var set uint32
	for _, p := range s.days {
		first, last := p.start, p.start
		if p.stop >= 0 {
			first = p.stop
		} else if p.repeat > 0 {
			last = 1
		}
		for n := first; n >= last; n -= max(p.repeat, 1) {
			set |= 1 << n
		}
	}
	return set
}

// eventDays is the rule for the days of a calendar event: both the weekday and the day of the month must match.
type eventDays struct {
	weekdays uint8
	days     uint32 // bit n is the n-th day
	fromEnd  uint32 // bit n is the n-th day from the end
}

func (r eventDays) daysOf(first, length int) uint32 {
	set := r.days
	for n := 1; n <= length && r.fromEnd != 0; n++ {
		if hasBit(uint64(r.fromEnd), n) {
			set |= 1 << (length + 1 - n)
		}
	}
	return set & daysOnWeekdays(r.weekdays, first)
}

func (r eventDays) lastNamed() int { return lastNamed(r.days) }

// lastNamed returns the last of the named days; 0 when every day is.
func lastNamed(days uint32) int {
	if days == allMonthdays {
		return 0
	}
	return max(prevBit(uint64(days), 31), 0)
}

// daysOnWeekdays returns the days of a month that fall on the given weekdays. The first of the month falls on first.
func daysOnWeekdays(weekdays uint8, first int) uint32 {
	if weekdays == allWeekdays {
		return ^uint32(0)
	}
	week := uint64(weekdays>>first|weekdays<<(7-first)) & allWeekdays
	return uint32(week * (1<<1 | 1<<8 | 1<<15 | 1<<22 | 1<<29))
}

// String implements Schedule.
func (e *event) String() string { return e.spec.String() }

func (s *eventSpec) String() string {
	b := make([]byte, 0, 64)
	if s.weekdays != 0 {
		b = append(appendWeekdays(b, s.weekdays), ' ')
	}
	b = append(s.years.append(b, 4, 1), '-')
	b = s.months.append(b, 2, 1)
	if s.fromEnd && s.days != nil {
		b = append(b, '~')
	} else {
		b = append(b, '-')
	}
	b = append(s.days.append(b, 2, 1), ' ')
	b = append(s.hours.append(b, 2, 1), ':')
	b = append(s.minutes.append(b, 2, 1), ':')
	if every := (component{0, -1, int64(second)}); len(s.seconds) == 1 && s.seconds[0] == every {
		b = append(b, '*')
	} else {
		b = s.seconds.append(b, 2, int64(second))
	}
	if s.zone != "" {
		b = append(append(b, ' '), s.zone...)
	}
	return string(b)
}

var weekdayNames = [7]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// appendWeekdays prints three days or more in a row as a range.
func appendWeekdays(b []byte, set uint8) []byte {
	for d := 0; d < 7; d++ {
		if !hasBit(uint64(set), d) {
			continue
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = append(b, weekdayNames[d][:3]...)
		last := d
		for hasBit(uint64(set), last+1) {
			last++
		}
		if last >= d+2 {
			b = append(b, ".."...)
			b = append(b, weekdayNames[last][:3]...)
			d = last
		}
	}
	return b
}
