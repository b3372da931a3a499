package elapse

import (
	"math/bits"
	"time"
)

// Set is the set of instants at which a calendar event or a cron expression elapses: the wall-clock
// times of a timetable in a zone.
//
// A reading of the clock elapses at its instant. A reading that a change of the clock leaves out
// elapses at the instant that the offset before the change gives, so that no day is lost. One that
// occurs twice elapses the first time, and also the second time when the timer elapses in every
// hour, so that it never pauses (RFC 5545, section 3.3.5).
type Set struct {
	Zone  *Zone
	Rule  DateRule // what the days of the table were made from
	table timetable
}

// NewSet compiles a rule for the days and a set of times of day.
func NewSet(rule DateRule, c Clock, z *Zone) Set {
	return Set{z, rule, timetable{rule.compile(), c}}
}

// Elapses returns the set itself: schedules that embed one are recognized by this method.
func (s *Set) Elapses() *Set { return s }

// Clock returns the times of day.
func (s *Set) Clock() *Clock { return &s.table.clock }

// NextReading returns the earliest reading of the clock in the set that is at least w.
func (s *Set) NextReading(w Wall) (Wall, bool) { return s.table.next(w) }

// LeapYearsOnly reports whether every elapse lies in a leap year.
func (s *Set) LeapYearsOnly() bool {
	for k, months := range s.table.dates.months {
		if months != 0 && yearKind(k).leap() == 0 {
			return false
		}
	}
	return true
}

// Next implements calendar.Schedule.
func (s *Set) Next(after time.Time) time.Time {
	at, ok := s.next(InstantOf(after) + 1)
	if !ok {
		return time.Time{}
	}
	return at.Time()
}

// Prev implements calendar.Schedule.
func (s *Set) Prev(before time.Time) time.Time {
	at := InstantOf(before)
	if before.Nanosecond()%1000 == 0 {
		at--
	}
	at, ok := s.prev(at)
	if !ok {
		return time.Time{}
	}
	return at.Time()
}

// next returns the earliest elapse that is at least from.
func (s *Set) next(from Instant) (Instant, bool) {
	from = max(from, firstInstant)
	for i := s.Zone.index(from); ; {
		end := s.Zone.end(i)
		if at, ok := s.nextIn(i, from, end); ok {
			return at, true
		}
		if i+1 == len(s.Zone.periods) {
			return 0, false
		}
		i, from = s.skip(i, from)
	}
}

// skip returns the next period to search, after period i had no elapse from the given instant on.
func (s *Set) skip(i int, from Instant) (int, Instant) {
	next := s.Zone.periods[i+1]
	w := Wall(from) + s.Zone.periods[i].offset
	if Wall(next.start)+next.offset < w {
		return i + 1, next.start // the clock went back over times that have not been searched
	}
	w, ok := s.table.next(w)
	if !ok {
		w = LastWall
	}
	i = max(i+1, s.Zone.index(Instant(w-beyondOffsets)))
	return i, s.Zone.periods[i].start
}

// nextIn returns the earliest elapse of period i from the given instant on, before end.
func (s *Set) nextIn(i int, from, end Instant) (at Instant, ok bool) {
	offset := s.Zone.periods[i].offset
	if w, found := s.table.next(Wall(max(from, s.fresh(i))) + offset); found {
		at = Instant(w - offset)
		ok = at < end
	}
	if gap := s.gapEnd(i); from < gap {
		before := s.Zone.periods[i-1].offset
		w, found := s.table.next(Wall(from) + before)
		if lost := Instant(w - before); found && lost < gap && (!ok || lost < at) {
			return lost, true
		}
	}
	return at, ok
}

// prev returns the latest elapse that is at most until.
func (s *Set) prev(until Instant) (Instant, bool) {
	for i := s.Zone.index(until); ; {
		if at, ok := s.prevIn(i, until); ok {
			return at, true
		}
		if i == 0 {
			return 0, false
		}
		i, until = s.skipBack(i)
	}
}

// skipBack returns the latest earlier period to search, and its last instant, after period i had no
// elapse.
func (s *Set) skipBack(i int) (int, Instant) {
	// No earlier period shows a later time than this.
	w, ok := s.table.prev(Wall(s.Zone.periods[i].start) + beyondOffsets)
	if !ok {
		w = FirstWall
	}
	i = min(i-1, s.Zone.index(Instant(w+beyondOffsets)))
	return i, s.Zone.end(i) - 1
}

// prevIn returns the latest elapse of period i up to the given instant.
func (s *Set) prevIn(i int, until Instant) (at Instant, ok bool) {
	p := s.Zone.periods[i]
	if w, found := s.table.prev(Wall(until) + p.offset); found {
		at = Instant(w - p.offset)
		ok = at >= s.fresh(i)
	}
	if gap := s.gapEnd(i); gap > p.start {
		before := s.Zone.periods[i-1].offset
		w, found := s.table.prev(Wall(min(until, gap-1)) + before)
		if lost := Instant(w - before); found && lost >= p.start && (!ok || lost > at) {
			return lost, true
		}
	}
	return at, ok
}

// fresh returns the instant of period i from which the clock shows what it has not shown before,
// unless the timer elapses in every hour and so elapses again.
func (s *Set) fresh(i int) Instant {
	start := s.Zone.periods[i].start
	if i == 0 || s.table.clock.EveryHour() {
		return start
	}
	return start + Instant(max(s.Zone.periods[i-1].offset-s.Zone.periods[i].offset, 0))
}

// gapEnd returns the instant of period i up to which readings that its start left out elapse.
func (s *Set) gapEnd(i int) Instant {
	if i == 0 {
		return firstInstant
	}
	return s.Zone.periods[i].start + Instant(max(s.Zone.periods[i].offset-s.Zone.periods[i-1].offset, 0))
}

// A set of small numbers is a word with one bit for each: bit n is set when n is a member.

// nextBit returns the smallest member that is at least n, or -1. Members end at 63, n may be
// larger.
func nextBit(set uint64, n int) int {
	if rest := set >> uint(n); rest != 0 {
		return n + bits.TrailingZeros64(rest)
	}
	return -1
}

// prevBit returns the largest member that is at most n, or a negative number. n may be negative
// itself.
func prevBit(set uint64, n int) int {
	return bits.Len64(set<<uint(63-n)) - 1 - (63 - n)
}

// HasBit reports whether n is a member.
func HasBit(set uint64, n int) bool { return set>>uint(n)&1 != 0 }

// BitRange returns the set of low to high, both included.
func BitRange(low, high int) uint64 {
	return ^uint64(0) << uint(low) & (^uint64(0) >> uint(63-high))
}

// Members lists the numbers in a set.
func Members(set uint64) (list []int) {
	for n := nextBit(set, 0); n >= 0; n = nextBit(set, n+1) {
		list = append(list, n)
	}
	return list
}
