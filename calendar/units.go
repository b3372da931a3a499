package calendar

import "strings"

// unit is a unit of time. Units up to hours have a fixed length; the others count days or months on the wall clock.
type unit struct {
	name   string
	micros wall  // length, for units of a fixed length
	days   int64 // or number of days
	months int64 // or number of months
	short  []string
}

var units = [...]unit{
	{name: "second", micros: second, short: []string{"s", "sec", "secs"}},
	{name: "minute", micros: minute, short: []string{"m", "min", "mins"}},
	{name: "hour", micros: hour, short: []string{"h", "hr", "hrs"}},
	{name: "day", days: 1, short: []string{"d"}},
	{name: "week", days: 7, short: []string{"w"}},
	{name: "month", months: 1},
	{name: "quarter", months: 3},
	{name: "year", months: 12, short: []string{"y"}},
}

// unitNamed finds a unit by its name in any case, in the singular or plural, or by a short form in lower case: M is not
// m, because some would mean months by it.
func unitNamed(text string) (unit, bool) {
	lower := strings.ToLower(text)
	for _, u := range units {
		if lower == u.name || lower == u.name+"s" {
			return u, true
		}
		for _, short := range u.short {
			if text == short {
				return u, true
			}
		}
	}
	return unit{}, false
}

// most returns the largest sensible count of a unit, that of the supported years. It keeps all products small.
func (u unit) most() int64 {
	const years = lastYear - firstYear + 1
	switch {
	case u.micros > 0:
		return int64(years * 365 * day / u.micros)
	case u.days > 0:
		return years * 365 / u.days
	}
	return years * 12 / u.months
}
