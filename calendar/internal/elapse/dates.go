package elapse

// dates is the compiled set of days on which a timer elapses. A day depends on the weekday of the
// first of its month and on the length of the month only, so that 28 words describe every month
// there is. Years and months that hold no day at all are left out, so that a search never walks:
// each step looks at one word.
type dates struct {
	years  YearSet
	months [yearKinds]uint16 // months that have a day, by the shape of the year
	days   [7][4]uint32      // days by weekday of the first and by length of the month, 28 to 31
}

// DateRule is a set of days as a timer describes it.
type DateRule struct {
	Years  YearSet
	Months uint16 // bit 1 is January
	Days   MonthRule
}

// MonthRule says which days of a month belong to a timer: bit n is the n-th day. The first of the
// month falls on the weekday first, 0 being Monday. Bits beyond the length of the month do not
// count.
type MonthRule interface {
	DaysOf(first, length int) uint32
	LastNamed() int // the last day that is named by its number and not part of "every day", else 0
}

// compile tabulates a rule.
func (r DateRule) compile() (d dates) {
	for first := range d.days {
		for i := range d.days[first] {
			length := 28 + i
			d.days[first][i] = r.Days.DaysOf(first, length) & uint32(BitRange(1, length))
		}
	}
	for k := range yearKind(yearKinds) {
		for m := 1; m <= 12; m++ {
			if HasBit(uint64(r.Months), m) && d.in(k, m) != 0 {
				d.months[k] |= 1 << m
			}
		}
	}
	for y := FirstYear; y <= LastYear; y++ {
		if r.Years.has(y) && d.months[kindOf(y)] != 0 {
			d.years.Add(y)
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
	at := DateOf(from)
	year := at.Year
	if d.years.has(year) {
		k := kindOf(year)
		months := uint64(d.months[k])
		if HasBit(months, at.Month) {
			if n := nextBit(uint64(d.in(k, at.Month)), at.Day); n > 0 {
				return from + n - at.Day, true
			}
		}
		if m := nextBit(months, at.Month+1); m > 0 {
			return d.firstOf(year, m), true
		}
	}
	if year = d.years.next(year + 1); year == 0 {
		return 0, false
	}
	return d.firstOf(year, nextBit(uint64(d.months[kindOf(year)]), 1)), true
}

// prev returns the latest day that is at most the given one, both since 1970-01-01.
func (d *dates) prev(from int) (int, bool) {
	at := DateOf(from)
	year := at.Year
	if d.years.has(year) {
		k := kindOf(year)
		months := uint64(d.months[k])
		if HasBit(months, at.Month) {
			if n := prevBit(uint64(d.in(k, at.Month)), at.Day); n > 0 {
				return from + n - at.Day, true
			}
		}
		if m := prevBit(months, at.Month-1); m > 0 {
			return d.lastOf(year, m), true
		}
	}
	if year = d.years.prev(year - 1); year == 0 {
		return 0, false
	}
	return d.lastOf(year, prevBit(uint64(d.months[kindOf(year)]), 12)), true
}

func (d *dates) firstOf(year, month int) int {
	return Date{year, month, nextBit(uint64(d.in(kindOf(year), month)), 1)}.days()
}

func (d *dates) lastOf(year, month int) int {
	return Date{year, month, prevBit(uint64(d.in(kindOf(year), month)), 31)}.days()
}

// YearSet is a set of years: bit 0 of the first word is FirstYear. It may be asked for years up to
// tableEnd.
type YearSet [4]uint64

// EveryYear returns the set of all supported years.
func EveryYear() (s YearSet) {
	for y := FirstYear; y <= LastYear; y++ {
		s.Add(y)
	}
	return s
}

// Add adds a year that is supported.
func (s *YearSet) Add(year int) {
	i := year - FirstYear
	s[i/64] |= 1 << (i % 64)
}

func (s *YearSet) has(year int) bool {
	i := year - FirstYear
	return i >= 0 && HasBit(s[i/64], i%64)
}

// next returns the first year of the set that is at least the given one, or 0.
func (s *YearSet) next(year int) int {
	for i := max(year-FirstYear, 0); i < 256; i = (i/64 + 1) * 64 {
		if n := nextBit(s[i/64], i%64); n >= 0 {
			return FirstYear + i/64*64 + n
		}
	}
	return 0
}

// prev returns the last year of the set that is at most the given one, or 0.
func (s *YearSet) prev(year int) int {
	for i := year - FirstYear; i >= 0; i = i/64*64 - 1 {
		if n := prevBit(s[i/64], i%64); n >= 0 {
			return FirstYear + i/64*64 + n
		}
	}
	return 0
}

// Members lists the years in order.
func (s *YearSet) Members() (list []int) {
	for y := s.next(FirstYear); y > 0; y = s.next(y + 1) {
		list = append(list, y)
	}
	return list
}
