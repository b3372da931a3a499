package calendar

import (
	"strconv"
	"time"
)

// interval elapses at its anchor and every count units from it. The k-th elapse is computed from the anchor, so that
// nothing adds up: neither short months nor changes of the clock.
type interval struct {
	count  int64
	unit   unit
	anchor instant
	start  wall // what the clock shows at the anchor
	zone   *zone
	zoned  bool // the zone was given
}

// simplify counts units of a fixed length in the largest unit that fits.
func (v *interval) simplify() {
	if v.unit.micros == 0 {
		return
	}
	total := wall(v.count) * v.unit.micros
	for _, u := range units {
		if u.micros > 0 && total%u.micros == 0 {
			v.count, v.unit = int64(total/u.micros), u
		}
	}
}

// String implements Schedule.
func (v *interval) String() string {
	from := v.anchor.time()
	if wall(v.anchor)%minute == v.start%minute {
		from = from.In(v.zone.location) // RFC 3339 knows offsets of whole minutes only
	}
	text := "every " + v.amount() + " from " + from.Format(time.RFC3339Nano)
	if v.zoned {
		text += " " + v.zone.name
	}
	return text
}

func (v *interval) amount() string {
	text := strconv.FormatInt(v.count, 10)
	switch {
	case v.unit.micros > 0:
		return text + v.unit.short[0]
	case v.count == 1:
		return text + " " + v.unit.name
	}
	return text + " " + v.unit.name + "s"
}

// Next implements Schedule.
func (v *interval) Next(after time.Time) time.Time {
	at := instantOf(after) + 1
	if at > instant(lastWall) {
		return time.Time{}
	}
	for k := max(v.guess(at)-1, 0); ; k++ {
		if t := v.tick(k); t > instant(lastWall) {
			return time.Time{}
		} else if t >= at {
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
	at = min(at, instant(lastWall))
	for k := v.guess(at) + 2; ; k-- {
		if t := v.tick(k); t <= at {
			return t.time()
		}
	}
}

// meanMonth is the 4,800th part of 400 years.
const meanMonth = 146_097 * int64(day) / 4800

// guess returns the number of an elapse near an instant: the last one before it is at most one lower or two higher, as
// some zones have skipped a day, and months may be shorter than the mean.
func (v *interval) guess(at instant) int64 {
	since := int64(max(at-v.anchor, 0))
	switch {
	case v.unit.micros > 0:
		return since / (v.count * int64(v.unit.micros))
	case v.unit.days > 0:
		return since / (v.count * v.unit.days * int64(day))
	}
	return since / (v.count * v.unit.months * meanMonth)
}

// tick returns the k-th elapse; the anchor is elapse 0.
func (v *interval) tick(k int64) instant {
	if k <= 0 {
		return v.anchor
	}
	if v.unit.micros > 0 {
		return v.anchor + instant(k*v.count)*instant(v.unit.micros)
	}
	w, ok := v.reading(k)
	if !ok {
		return lastInstant + 1
	}
	return v.zone.resolve(w)
}

// reading returns what the clock shows at the k-th elapse of an interval that counts days or months, if that lies in the
// supported years.
func (v *interval) reading(k int64) (wall, bool) {
	n := k * v.count
	if v.unit.days > 0 {
		w := v.start + wall(n*v.unit.days)*day
		return w, w <= lastWall
	}
	days, clock := v.start.split()
	d := dateOf(days)
	m := d.month - 1 + int(n*v.unit.months)
	d.year, d.month = d.year+m/12, m%12+1
	if d.year > lastYear {
		return 0, false
	}
	d.day = min(d.day, kindOf(d.year).length(d.month))
	return wall(d.days())*day + clock, true
}
