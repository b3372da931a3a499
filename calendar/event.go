package calendar

import "github.com/nextrun/nextrun/calendar/internal/elapse"

// event is a calendar event as systemd.time(7) describes it: the components as they were written,
// in normal form, and what they compile to.
type event struct {
	elapse.Set
	spec eventSpec
}

type eventSpec struct {
	weekdays       uint8 // bit 0 is Monday; 0 when there is no restriction
	years, months  elapse.Chain
	days           elapse.Chain
	fromEnd        bool // days count from the end of the month
	hours, minutes elapse.Chain
	seconds        elapse.Chain // in microseconds; a nil chain is not used, `*` is 0/1s
	zone           string       // as written, "" for none
}

// rule returns the days of a spec that has been checked.
func (s *eventSpec) rule() elapse.DateRule {
	rule := elapse.DateRule{Months: uint16(s.months.Set(1, 12)), Days: s.dayRule()}
	for y := int64(elapse.FirstYear); y <= elapse.LastYear; y++ {
		if s.years == nil || s.years.Has(y) {
			rule.Years.Add(int(y))
		}
	}
	return rule
}

// clock returns the times of day of a spec that has been checked.
func (s *eventSpec) clock() elapse.Clock {
	c := elapse.Clock{Hours: uint32(s.hours.Set(0, 23)), Minutes: s.minutes.Set(0, 59)}
	if s.seconds.Whole(int64(elapse.Second)) {
		c.Seconds = s.seconds.Divide(int64(elapse.Second)).Set(0, 59)
	} else {
		c.Parts = s.seconds
	}
	return c
}

func (s *eventSpec) dayRule() elapse.EventDays {
	rule := elapse.EventDays{Weekdays: s.weekdays}
	if rule.Weekdays == 0 {
		rule.Weekdays = elapse.AllWeekdays
	}
	if s.fromEnd && s.days != nil {
		rule.FromEnd = s.daysFromEnd()
	} else {
		rule.Days = uint32(s.days.Set(1, 31))
	}
	return rule
}

// daysFromEnd returns the days as a set of numbers that count back from the end of the month, the
// last day being 1. A repetition starts at the earliest day and goes on towards the end of the
// month.
func (s *eventSpec) daysFromEnd() uint32 {
	var set uint32
	for _, p := range s.days {
		first, last := p.Start, p.Start
		if p.Stop >= 0 {
			first = p.Stop
		} else if p.Repeat > 0 {
			last = 1
		}
		for n := first; n >= last; n -= max(p.Repeat, 1) {
			set |= 1 << n
		}
	}
	return set
}

// String implements Schedule.
func (e *event) String() string { return e.spec.String() }

func (s *eventSpec) String() string {
	b := make([]byte, 0, 64)
	if s.weekdays != 0 {
		b = append(appendWeekdays(b, s.weekdays), ' ')
	}
	b = append(s.years.Append(b, 4, 1), '-')
	b = s.months.Append(b, 2, 1)
	if s.fromEnd && s.days != nil {
		b = append(b, '~')
	} else {
		b = append(b, '-')
	}
	b = append(s.days.Append(b, 2, 1), ' ')
	b = append(s.hours.Append(b, 2, 1), ':')
	b = append(s.minutes.Append(b, 2, 1), ':')
	if every := elapse.Repeat(0, int64(elapse.Second)); len(s.seconds) == 1 && s.seconds[0] == every {
		b = append(b, '*')
	} else {
		b = s.seconds.Append(b, 2, int64(elapse.Second))
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
		if !elapse.HasBit(uint64(set), d) {
			continue
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = append(b, weekdayNames[d][:3]...)
		last := d
		for elapse.HasBit(uint64(set), last+1) {
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
