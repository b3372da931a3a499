package elapse

// The sets of all weekdays, bit 0 being Monday, and of all days of a month, bit 1 being the first.
const (
	AllWeekdays  = 1<<7 - 1
	AllMonthdays = 1<<32 - 2
)

// EventDays is the rule for the days of a calendar event: both the weekday and the day of the month
// must match.
type EventDays struct {
	Weekdays uint8  // bit 0 is Monday
	Days     uint32 // bit n is the n-th day
	FromEnd  uint32 // bit n is the n-th day from the end
}

// DaysOf implements [MonthRule].
func (r EventDays) DaysOf(first, length int) uint32 {
	set := r.Days
	for n := 1; n <= length && r.FromEnd != 0; n++ {
		if HasBit(uint64(r.FromEnd), n) {
			set |= 1 << (length + 1 - n)
		}
	}
	return set & daysOnWeekdays(r.Weekdays, first)
}

// LastNamed implements [MonthRule].
func (r EventDays) LastNamed() int { return lastNamed(r.Days) }

// lastNamed returns the last of the named days; 0 when every day is.
func lastNamed(days uint32) int {
	if days == AllMonthdays {
		return 0
	}
	return max(prevBit(uint64(days), 31), 0)
}

// daysOnWeekdays returns the days of a month that fall on the given weekdays. The first of the
// month falls on first.
func daysOnWeekdays(weekdays uint8, first int) uint32 {
	if weekdays == AllWeekdays {
		return ^uint32(0)
	}
	week := uint64(weekdays>>first|weekdays<<(7-first)) & AllWeekdays
	return uint32(week * (1<<1 | 1<<8 | 1<<15 | 1<<22 | 1<<29))
}
