package calendar

import "time"

// interval elapses at its anchor and every count units from it. The k-th elapse is computed from the anchor, so that
// nothing adds up: neither the short months nor the changes of the clock.
type interval struct {
	count  int64
	unit   unit
	anchor instant
	zone   *zone
	zoned  bool // the zone was given
}

// unit is a unit of time. Units up to hours have a fixed length; the others count days or months on the wall clock.
type unit struct {
	name   string
	short  string
	micros wall  // length, for units of a fixed length
	days   int64 // or number of days
	months int64 // or number of months
}

var units = [...]unit{
	{name: "second", short: "s", micros: second},
	{name: "minute", short: "m", micros: minute},
	{name: "hour", short: "h", micros: hour},
	{name: "day", short: "d", days: 1},
	{name: "week", short: "w", days: 7},
	{name: "month", months: 1},
	{name: "quarter", months: 3},
	{name: "year", short: "y", months: 12},
}

// Next implements Schedule.
func (v *interval) Next(after time.Time) time.Time {
	at := instantOf(after) + 1
	if at <= v.anchor {
		return v.anchor.time()
	}
	if at > lastInstant {
		return time.Time{}
	}
	for k := max(v.guess(at)-1, 1); ; k++ {
		if t := v.tick(k); t >= at {
			if t > lastInstant {
				return time.Time{}
			}
			return t.time()
		}
	}
}

// Prev implements Schedule.
func (v *interval) Prev(before time.Time) time.Time {
	at := instantOf(before)
	if before.Nanosecond()%1000 == 0 {
		at--
	}
	if at < v.anchor {
		return time.Time{}
	}
	for k := v.guess(min(at, lastInstant)) + 1; ; k-- {
		if t := v.tick(k); t <= min(at, lastInstant) {
			return t.time()
		}
	}
}

// guess returns the number of an elapse near an instant, at most one off.
func (v *interval) guess(at instant) int64 {
	switch {
	case v.unit.micros > 0:
		return int64(at-v.anchor) / (v.count * int64(v.unit.micros))
	case v.unit.days > 0:
		return int64(at-v.anchor) / (v.count * v.unit.days * int64(day))
	}
	a, _ := v.wallAnchor().split()
	b, _ := wall(at).split()
	from, to := dateOf(a), dateOf(b)
	return int64((to.year-from.year)*12+to.month-from.month) / (v.count * v.unit.months)
}

func (v *interval) wallAnchor() wall {
	return wall(v.anchor) + v.zone.periods[v.zone.index(v.anchor)].offset
}

// tick returns the k-th elapse; the anchor is elapse 0.
func (v *interval) tick(k int64) instant {
	n := k * v.count
	switch {
	case k <= 0:
		return v.anchor
	case v.unit.micros > 0:
		return v.anchor + instant(n)*instant(v.unit.micros)
	case v.unit.days > 0:
		return v.zone.resolve(v.wallAnchor() + wall(n*v.unit.days)*day)
	}
	days, clock := v.wallAnchor().split()
	d := dateOf(days)
	m := int64(d.year)*12 + int64(d.month-1) + n*v.unit.months
	d.year, d.month = int(m/12), int(m%12)+1
	if d.year > tableEnd {
		return lastInstant + 1
	}
	d.day = min(d.day, kindOf(d.year).length(d.month))
	return v.zone.resolve(wall(d.days())*day + clock)
}
