package calendar

// dates is the compiled set of days on which a timer elapses. A day depends on the weekday of the first of its month
// and on the length of the month only, so that 28 words describe every month there is. Years and months that hold no
// day at all are left out, so that a search never walks: each step looks at one word.
type dates struct {
	years  [4]uint64         // bit 0 is firstYear
	months [yearKinds]uint16 // months that have a day, by the shape of the year
	days   [7][4]uint32      // days by weekday of the first and by length of the month, 28 to 31
}

// monthRule says which days of a month belong to a timer. The first of the month falls on the weekday first.
type monthRule interface {
	daysOf(first, length int) uint32
}

// compileDates tabulates a rule for the given months and years.
func compileDates(years [4]uint64, months uint16, rule monthRule) (d dates) {
	for first := range d.days {
		for i := range d.days[first] {
			length := 28 + i
			d.days[first][i] = rule.daysOf(first, length) & uint32(bitRange(1, length))
		}
	}
	for k := range yearKind(yearKinds) {
		for m := 1; m <= 12; m++ {
			if hasBit(uint64(months), m) && d.in(k, m) != 0 {
				d.months[k] |= 1 << m
			}
		}
	}
	for y := firstYear; y <= lastYear; y++ {
		i := y - firstYear
		if hasBit(years[i/64], i%64) && d.months[kindOf(y)] != 0 {
			d.years[i/64] |= 1 << (i % 64)
		}
	}
	return d
}

// in returns the days of a month in a year of the given shape.
func (d *dates) in(k yearKind, month int) uint32 {
	return d.days[weekdayOf1[k][month]][k.length(month)-28]
}

// next returns the earliest day that is at least the given one, both since 1970-01-01.
func (d *dates) next(from int) (int, bool) {
	at := dateOf(from)
	year := at.year
	if d.hasYear(year) {
		k := kindOf(year)
		months := uint64(d.months[k])
		if hasBit(months, at.month) {
			if n := nextBit(uint64(d.in(k, at.month)), at.day); n > 0 {
				return from + n - at.day, true
			}
		}
		if m := nextBit(months, at.month+1); m > 0 {
			return d.firstOf(year, m), true
		}
	}
	if year = d.nextYear(year + 1); year == 0 {
		return 0, false
	}
	return d.firstOf(year, nextBit(uint64(d.months[kindOf(year)]), 1)), true
}

// prev returns the latest day that is at most the given one, both since 1970-01-01.
func (d *dates) prev(from int) (int, bool) {
	at := dateOf(from)
	year := at.year
	if d.hasYear(year) {
		k := kindOf(year)
		months := uint64(d.months[k])
		if hasBit(months, at.month) {
			if n := prevBit(uint64(d.in(k, at.month)), at.day); n > 0 {
				return from + n - at.day, true
			}
		}
		if m := prevBit(months, at.month-1); m > 0 {
			return d.lastOf(year, m), true
		}
	}
	if year = d.prevYear(year - 1); year == 0 {
		return 0, false
	}
	return d.lastOf(year, prevBit(uint64(d.months[kindOf(year)]), 12)), true
}

func (d *dates) firstOf(year, month int) int {
	return date{year, month, nextBit(uint64(d.in(kindOf(year), month)), 1)}.days()
}

func (d *dates) lastOf(year, month int) int {
	return date{year, month, prevBit(uint64(d.in(kindOf(year), month)), 31)}.days()
}

func (d *dates) hasYear(year int) bool {
	i := year - firstYear
	return i >= 0 && i < 256 && hasBit(d.years[i/64], i%64)
}

// nextYear returns the first year of the set that is at least the given one, or 0.
func (d *dates) nextYear(year int) int {
	i := max(year-firstYear, 0)
	for ; i < 256; i = (i/64 + 1) * 64 {
		if n := nextBit(d.years[i/64], i%64); n >= 0 {
			return firstYear + i/64*64 + n
		}
	}
	return 0
}

// prevYear returns the last year of the set that is at most the given one, or 0.
func (d *dates) prevYear(year int) int {
	for i := year - firstYear; i >= 0; i = i/64*64 - 1 {
		if n := prevBit(d.years[i/64], i%64); n >= 0 {
			return firstYear + i/64*64 + n
		}
	}
	return 0
}
