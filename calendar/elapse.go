package calendar

import "time"

// ticker turns the wall-clock times of a timetable into instants of a zone.
//
// A reading of the clock elapses at its instant. A reading that a change of the clock leaves out elapses at the instant
// that the offset before the change gives, so that no day is lost. One that occurs twice elapses the first time, and
// also the second time when the timer elapses in every hour, so that it never pauses (RFC 5545, section 3.3.5).
type ticker struct {
	table timetable
	zone  *zone
	rule  dateRule // what the days of the table were made from
}

func newTicker(rule dateRule, c clock, z *zone) ticker {
	return ticker{timetable{rule.compile(), c}, z, rule}
}

// Next implements Schedule.
func (t *ticker) Next(after time.Time) time.Time {
	at, ok := t.next(instantOf(after) + 1)
	if !ok {
		return time.Time{}
	}
	return at.time()
}

// Prev implements Schedule.
func (t *ticker) Prev(before time.Time) time.Time {
	at := instantOf(before)
	if before.Nanosecond()%1000 == 0 {
		at--
	}
	at, ok := t.prev(at)
	if !ok {
		return time.Time{}
	}
	return at.time()
}

// next returns the earliest elapse that is at least from.
func (t *ticker) next(from instant) (instant, bool) {
	from = max(from, firstInstant)
	for i := t.zone.index(from); ; {
		end := t.zone.end(i)
		if at, ok := t.nextIn(i, from, end); ok {
			return at, true
		}
		if i+1 == len(t.zone.periods) {
			return 0, false
		}
		i, from = t.skip(i, from)
	}
}

// skip returns the next period worth a look after period i had no elapse from the given instant on.
func (t *ticker) skip(i int, from instant) (int, instant) {
	next := t.zone.periods[i+1]
	w := wall(from) + t.zone.periods[i].offset
	if wall(next.start)+next.offset < w {
		return i + 1, next.start // the clock went back over times that have not been searched
	}
	w, ok := t.table.next(w)
	if !ok {
		w = lastWall
	}
	i = max(i+1, t.zone.index(instant(w-beyondOffsets)))
	return i, t.zone.periods[i].start
}

// nextIn returns the earliest elapse of period i from the given instant on, before end.
func (t *ticker) nextIn(i int, from, end instant) (at instant, ok bool) {
	offset := t.zone.periods[i].offset
	if w, found := t.table.next(wall(max(from, t.fresh(i))) + offset); found {
		at = instant(w - offset)
		ok = at < end
	}
	if gap := t.gapEnd(i); from < gap {
		before := t.zone.periods[i-1].offset
		w, found := t.table.next(wall(from) + before)
		if lost := instant(w - before); found && lost < gap && (!ok || lost < at) {
			return lost, true
		}
	}
	return at, ok
}

// prev returns the latest elapse that is at most until.
func (t *ticker) prev(until instant) (instant, bool) {
	for i := t.zone.index(until); ; {
		if at, ok := t.prevIn(i, until); ok {
			return at, true
		}
		if i == 0 {
			return 0, false
		}
		i, until = t.skipBack(i)
	}
}

// skipBack returns the latest period worth a look after period i had no elapse, and its last instant.
func (t *ticker) skipBack(i int) (int, instant) {
	w, ok := t.table.prev(wall(t.zone.periods[i].start) + beyondOffsets) // no earlier period shows a later time
	if !ok {
		w = firstWall
	}
	i = min(i-1, t.zone.index(instant(w+beyondOffsets)))
	return i, t.zone.end(i) - 1
}

// prevIn returns the latest elapse of period i up to the given instant.
func (t *ticker) prevIn(i int, until instant) (at instant, ok bool) {
	p := t.zone.periods[i]
	if w, found := t.table.prev(wall(until) + p.offset); found {
		at = instant(w - p.offset)
		ok = at >= t.fresh(i)
	}
	if gap := t.gapEnd(i); gap > p.start {
		before := t.zone.periods[i-1].offset
		w, found := t.table.prev(wall(min(until, gap-1)) + before)
		if lost := instant(w - before); found && lost >= p.start && (!ok || lost > at) {
			return lost, true
		}
	}
	return at, ok
}

// fresh returns the instant of period i from which the clock shows what it has not shown before, unless the timer
// elapses in every hour and so elapses again.
func (t *ticker) fresh(i int) instant {
	start := t.zone.periods[i].start
	if i == 0 || t.table.clock.everyHour() {
		return start
	}
	return start + instant(max(t.zone.periods[i-1].offset-t.zone.periods[i].offset, 0))
}

// gapEnd returns the instant of period i up to which readings that its start left out elapse.
func (t *ticker) gapEnd(i int) instant {
	if i == 0 {
		return firstInstant
	}
	return t.zone.periods[i].start + instant(max(t.zone.periods[i].offset-t.zone.periods[i-1].offset, 0))
}
