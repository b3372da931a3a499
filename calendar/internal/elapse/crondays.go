package elapse

// CronDays is the rule for the days of a cron expression.
type CronDays struct {
	Days     uint32   // bit n is the n-th day
	Last     bool     // L: the last day of the month
	Workdays uint32   // nW: the workday nearest to the n-th, in the same month
	Weekdays uint8    // bit 0 is Monday
	Nth      [6]uint8 // d#n: weekdays that count the n-th time only
	LastOf   uint8    // dL: weekdays that count the last time only

	AnyDay, AnyWeekday bool // the field is `*` or `?`
	Both               bool // both fields must match, else one of them is enough
}

// DaysOf implements [MonthRule].
func (d *CronDays) DaysOf(first, length int) uint32 {
	switch {
	case d.AnyWeekday && d.AnyDay:
		return ^uint32(0)
	case d.AnyWeekday:
		return d.monthdays(first, length)
	case d.AnyDay:
		return d.onWeekdays(first, length)
	case d.Both:
		return d.monthdays(first, length) & d.onWeekdays(first, length)
	}
	return d.monthdays(first, length) | d.onWeekdays(first, length)
}

// LastNamed implements [MonthRule].
func (d *CronDays) LastNamed() int { return lastNamed(d.Days | d.Workdays) }

func (d *CronDays) monthdays(first, length int) uint32 {
	set := d.Days
	if d.Last {
		set |= 1 << length
	}
	for n := 1; n <= length && d.Workdays != 0; n++ {
		if HasBit(uint64(d.Workdays), n) {
			set |= 1 << nearestWorkday(n, first, length)
		}
	}
	return set
}

// nearestWorkday returns the day from Monday to Friday that is nearest to the n-th and in the same
// month.
func nearestWorkday(n, first, length int) int {
	switch (first + n - 1) % 7 {
	case 5:
		if n == 1 {
			return 3
		}
		return n - 1
	case 6:
		if n == length {
			return n - 2
		}
		return n + 1
	}
	return n
}

func (d *CronDays) onWeekdays(first, length int) uint32 {
	set := daysOnWeekdays(d.Weekdays, first)
	for n := 1; n <= 5; n++ {
		set |= daysOnWeekdays(d.Nth[n], first) & uint32(BitRange(7*n-6, 7*n))
	}
	return set | daysOnWeekdays(d.LastOf, first)&uint32(BitRange(length-6, length))
}
