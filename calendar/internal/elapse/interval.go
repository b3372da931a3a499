package elapse

import (
	"strconv"
	"time"
)

// Interval elapses at its anchor and every count units from it. The k-th elapse is computed from
// the anchor, so that short months and changes of the clock do not accumulate.
type Interval struct {
	Count  int64
	Unit   Unit
	Anchor Instant
	Start  Wall // what the clock shows at the anchor; of days and longer units in a gap, what it would show
	Zone   *Zone
	Zoned  bool // the zone was given
}

// Simplify counts units of a fixed length in the largest unit that fits.
func (v *Interval) Simplify() {
	if v.Unit.Micros == 0 {
		return
	}
	total := Wall(v.Count) * v.Unit.Micros
	for _, u := range Units {
		if u.Micros > 0 && total%u.Micros == 0 {
			v.Count, v.Unit = int64(total/u.Micros), u
		}
	}
}

// String implements calendar.Schedule.
func (v *Interval) String() string {
	layout, from := time.RFC3339Nano, v.Anchor.Time()
	switch {
	case v.Start != v.Zone.Reading(v.Anchor):
		layout, from = "2006-01-02T15:04:05.999999", Instant(v.Start).Time()
	case Wall(v.Anchor)%Minute == v.Start%Minute:
		from = from.In(v.Zone.Location) // RFC 3339 knows offsets of whole minutes only
	}
	text := "every " + v.amount() + " from " + from.Format(layout)
	if v.Zoned {
		text += " " + v.Zone.Name
	}
	return text
}

func (v *Interval) amount() string {
	text := strconv.FormatInt(v.Count, 10)
	switch {
	case v.Unit.Micros > 0:
		return text + v.Unit.Short[0]
	case v.Count == 1:
		return text + " " + v.Unit.Name
	}
	return text + " " + v.Unit.Name + "s"
}

// Next implements calendar.Schedule.
func (v *Interval) Next(after time.Time) time.Time {
	at := InstantOf(after) + 1
	if at > Instant(LastWall) {
		return time.Time{}
	}
	for k := max(v.guess(at)-1, 0); ; k++ {
		if t := v.tick(k); t > Instant(LastWall) {
			return time.Time{}
		} else if t >= at {
			return t.Time()
		}
	}
}

// Prev implements calendar.Schedule.
func (v *Interval) Prev(before time.Time) time.Time {
	at := InstantOf(before)
	if before.Nanosecond()%1000 == 0 {
		at--
	}
	if at < v.Anchor {
		return time.Time{}
	}
	at = min(at, Instant(LastWall))
	for k := v.guess(at) + 2; ; k-- {
		if t := v.tick(k); t <= at {
			return t.Time()
		}
	}
}

// meanMonth is the 4,800th part of 400 years.
const meanMonth = 146_097 * int64(Day) / 4800

// guess returns the number of an elapse near an instant: the last one before it is at most one
// lower or two higher, as some zones have skipped a day, and months may be shorter than the mean.
func (v *Interval) guess(at Instant) int64 {
	since := int64(max(at-v.Anchor, 0))
	switch {
	case v.Unit.Micros > 0:
		return since / (v.Count * int64(v.Unit.Micros))
	case v.Unit.Days > 0:
		return since / (v.Count * v.Unit.Days * int64(Day))
	}
	return since / (v.Count * v.Unit.Months * meanMonth)
}

// tick returns the k-th elapse; the anchor is elapse 0.
func (v *Interval) tick(k int64) Instant {
	if k <= 0 {
		return v.Anchor
	}
	if v.Unit.Micros > 0 {
		return v.Anchor + Instant(k*v.Count)*Instant(v.Unit.Micros)
	}
	w, ok := v.reading(k)
	if !ok {
		return lastInstant + 1
	}
	return v.Zone.Resolve(w)
}

// reading returns what the clock shows at the k-th elapse of an interval that counts days or
// months, if that lies in the supported years.
func (v *Interval) reading(k int64) (Wall, bool) {
	n := k * v.Count
	if v.Unit.Days > 0 {
		w := v.Start + Wall(n*v.Unit.Days)*Day
		return w, w <= LastWall
	}
	days, clock := v.Start.Split()
	d := DateOf(days)
	m := d.Month - 1 + int(n*v.Unit.Months)
	d.Year, d.Month = d.Year+m/12, m%12+1
	if d.Year > LastYear {
		return 0, false
	}
	d.Day = min(d.Day, kindOf(d.Year).length(d.Month))
	return Wall(d.days())*Day + clock, true
}

// NextReading returns the earliest reading of the clock that is at least from, of an interval that
// counts days or longer units.
func (v *Interval) NextReading(from Wall) (Wall, bool) {
	for k := max(v.guess(Instant(from-v.Start)+v.Anchor)-1, 0); ; k++ {
		w, ok := v.reading(k)
		if !ok || w >= from {
			return w, ok
		}
	}
}
