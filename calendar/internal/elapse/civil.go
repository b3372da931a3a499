package elapse

// FirstYear and LastYear are the bounds of elapses, counted in the wall clock of the timer's zone:
// the years that systemd accepts.
const (
	FirstYear = 1970
	LastYear  = 2199
)

// Wall is a reading of a wall clock, in microseconds since 1970-01-01 00:00:00 on that clock. Wall
// values of one zone may repeat or be missing; subtracting the offset of the zone turns one into an
// instant.
type Wall int64

// The lengths of time on a clock that nobody changes.
const (
	Second Wall = 1_000_000
	Minute      = 60 * Second
	Hour        = 60 * Minute
	Day         = 24 * Hour
)

// Split returns the day since 1970-01-01 and the time of that day.
func (w Wall) Split() (days int, clock Wall) {
	d := w / Day
	c := w % Day
	if c < 0 {
		d, c = d-1, c+Day
	}
	return int(d), c
}

// Date is a day of the proleptic Gregorian calendar.
type Date struct {
	Year  int
	Month int // 1 to 12
	Day   int // 1 to 31
}

// The calendar is tabulated, one year before and after the supported ones included: a lookup is
// cheaper than the divisions of a formula, and there are few years.
const (
	tableStart = FirstYear - 1
	tableEnd   = LastYear + 1
)

// yearKind is one of the 14 shapes that a year can have: the weekday of 1 January (0 Monday to 6
// Sunday), plus 7 in a leap year.
type yearKind uint8

const yearKinds = 14

func (k yearKind) leap() int            { return int(k) / 7 }
func (k yearKind) firstWeekday() int    { return int(k) % 7 }
func (k yearKind) length(month int) int { return monthLengths[k.leap()][month] }

var (
	monthLengths = [2][13]int{
		{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31},
		{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31},
	}
	monthStarts = startsOfMonths()                  // day of the year, from 0, of the first of a month
	yearStarts  [tableEnd - tableStart + 2]int32    // day since 1970-01-01 of 1 January
	kinds       [tableEnd - tableStart + 1]yearKind // shape of each year
	weekdayOf1  = firstWeekdays()                   // weekday of the first of a month, by the shape of its year
)

func init() {
	start := int32(-365) // 1 January 1969
	for i := range kinds {
		yearStarts[i] = start
		kinds[i] = yearKind(weekday(int(start)))
		start += 365
		if leapYear(tableStart + i) {
			kinds[i] += 7
			start++
		}
	}
	yearStarts[len(kinds)] = start
}

// MonthLength returns the number of days of a month in a year that is no leap year.
func MonthLength(month int) int { return monthLengths[0][month] }

func startsOfMonths() (starts [2][14]int) {
	for leap := range starts {
		for m := 1; m <= 12; m++ {
			starts[leap][m+1] = starts[leap][m] + monthLengths[leap][m]
		}
	}
	return starts
}

func firstWeekdays() (first [yearKinds][13]uint8) {
	for k := range yearKind(yearKinds) {
		for m := 1; m <= 12; m++ {
			first[k][m] = uint8((k.firstWeekday() + monthStarts[k.leap()][m]) % 7)
		}
	}
	return first
}

func leapYear(year int) bool {
	return year%4 == 0 && (year%100 != 0 || year%400 == 0)
}

// weekday returns 0 for Monday to 6 for Sunday; 1970-01-01 was a Thursday.
func weekday(days int) int {
	w := (days + 3) % 7
	if w < 0 {
		w += 7
	}
	return w
}

// kindOf returns the shape of a year in the tables.
func kindOf(year int) yearKind { return kinds[year-tableStart] }

// DateOf returns the date of a day since 1970-01-01. The day must lie in the tables.
func DateOf(days int) Date {
	// 400 years have 146,097 days; the estimate is off by one year at most.
	i := FirstYear - tableStart + days*400/146_097
	if int(yearStarts[i]) > days {
		i--
	} else if int(yearStarts[i+1]) <= days {
		i++
	}
	inYear := days - int(yearStarts[i])
	starts := &monthStarts[kinds[i].leap()]
	m := inYear/31 + 1 // or the month after it
	if inYear >= starts[m+1] {
		m++
	}
	return Date{tableStart + i, m, inYear - starts[m] + 1}
}

// days returns the day since 1970-01-01; the inverse of DateOf.
func (d Date) days() int {
	return int(yearStarts[d.Year-tableStart]) + monthStarts[kindOf(d.Year).leap()][d.Month] + d.Day - 1
}
