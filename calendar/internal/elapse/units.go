package elapse

import "strings"

// Unit is a unit of time. Units up to hours have a fixed length; the others count days or months on
// the wall clock.
type Unit struct {
	Name   string
	Micros Wall     // length, for units of a fixed length
	Days   int64    // or number of days
	Months int64    // or number of months
	Short  []string // short forms, the usual one first
}

// Units lists the units, from the shortest to the longest.
var Units = [...]Unit{
	{Name: "second", Micros: Second, Short: []string{"s", "sec", "secs"}},
	{Name: "minute", Micros: Minute, Short: []string{"m", "min", "mins"}},
	{Name: "hour", Micros: Hour, Short: []string{"h", "hr", "hrs"}},
	{Name: "day", Days: 1, Short: []string{"d"}},
	{Name: "week", Days: 7, Short: []string{"w"}},
	{Name: "month", Months: 1},
	{Name: "quarter", Months: 3},
	{Name: "year", Months: 12, Short: []string{"y"}},
}

// UnitNamed finds a unit by its name in any case, in the singular or plural, or by a short form in
// lower case: M is not m, because some people write M for months.
func UnitNamed(text string) (Unit, bool) {
	lower := strings.ToLower(text)
	for _, u := range Units {
		if lower == u.Name || lower == u.Name+"s" {
			return u, true
		}
		for _, short := range u.Short {
			if text == short {
				return u, true
			}
		}
	}
	return Unit{}, false
}

// Most returns the largest sensible count of a unit, that of the supported years. It keeps all
// products small.
func (u Unit) Most() int64 {
	const years = LastYear - FirstYear + 1
	switch {
	case u.Micros > 0:
		return int64(years * 365 * Day / u.Micros)
	case u.Days > 0:
		return years * 365 / u.Days
	}
	return years * 12 / u.Months
}
