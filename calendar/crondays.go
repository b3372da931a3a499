package calendar

import "strings"

// cronDays is the rule for the days of a cron expression.
type cronDays struct {
	days     uint32   // bit n is the n-th day
	last     bool     // L: the last day of the month
	workdays uint32   // nW: the workday nearest to the n-th, in the same month
	weekdays uint8    // bit 0 is Monday
	nth      [6]uint8 // d#n: weekdays that count the n-th time only
	lastOf   uint8    // dL: weekdays that count the last time only

	anyDay, anyWeekday bool // the field is `*` or `?`
	both               bool // both fields must match, else one of them is enough
}

// combine sets how the two fields go together. As usual with cron, a day matches when one of two restricted fields
// does; when one of them starts with a star, both must match.
func (d *cronDays) combine(day, weekday string) {
	d.anyDay = day == "*" || day == "?"
	d.anyWeekday = weekday == "*" || weekday == "?"
	d.both = d.anyDay || strings.HasPrefix(day, "*") || strings.HasPrefix(weekday, "*/")
}

func (d *cronDays) daysOf(first, length int) uint32 {
	switch {
	case d.anyWeekday && d.anyDay:
		return ^uint32(0)
	case d.anyWeekday:
		return d.monthdays(first, length)
	case d.anyDay:
		return d.onWeekdays(first, length)
	case d.both:
		return d.monthdays(first, length) & d.onWeekdays(first, length)
	}
	return d.monthdays(first, length) | d.onWeekdays(first, length)
}

func (d *cronDays) lastNamed() int { return lastNamed(d.days | d.workdays) }

func (d *cronDays) monthdays(first, length int) uint32 {
	set := d.days
	if d.last {
		set |= 1 << length
	}
	for n := 1; n <= length && d.workdays != 0; n++ {
		if hasBit(uint64(d.workdays), n) {
			set |= 1 << nearestWorkday(n, first, length)
		}
	}
	return set
}

// nearestWorkday returns the day from Monday to Friday that is nearest to the n-th and in the same month.
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

func (d *cronDays) onWeekdays(first, length int) uint32 {
	set := daysOnWeekdays(d.weekdays, first)
	for n := 1; n <= 5; n++ {
		set |= daysOnWeekdays(d.nth[n], first) & uint32(bitRange(7*n-6, 7*n))
	}
	return set | daysOnWeekdays(d.lastOf, first)&uint32(bitRange(length-6, length))
}

// special reads L and nW among days of the month, dL and d#n among weekdays.
func (p *cronParser) special(f int, text string, at int) (normal string, ok bool, err error) {
	switch {
	case f == cronDay && text == "L":
		p.days.last = true
		return text, true, nil
	case f == cronDay && strings.HasSuffix(text, "W"):
		n, err := p.value(f, strings.TrimSuffix(text, "W"), at, false)
		if err == nil {
			p.days.workdays |= 1 << n
		}
		return text, true, err
	case f == cronWeekday && strings.HasSuffix(text, "L"):
		n, err := p.value(f, strings.TrimSuffix(text, "L"), at, false)
		if err == nil {
			p.days.lastOf |= cronWeek(1 << n)
		}
		return string(rune('0'+n)) + "L", true, err
	case f == cronWeekday && strings.Contains(text, "#"):
		d, n, _ := strings.Cut(text, "#")
		weekday, err := p.value(f, d, at, false)
		if err != nil {
			return "", true, err
		}
		if len(n) != 1 || n[0] < '1' || n[0] > '5' {
			return "", true, p.failAt(at+len(d)+1, "expected 1 to 5 after `#`")
		}
		p.days.nth[n[0]-'0'] |= cronWeek(1 << weekday)
		return string(rune('0'+weekday)) + "#" + n, true, nil
	}
	return "", false, nil
}
