package isolate

import (
	"cmp"
	"slices"
	"time"
)

// Aside holds what failed alone, by its key: it is left out of the work with others, and tried
// again alone. The reason R for which it was set aside says at which pace. It is not safe for
// concurrent use.
type Aside[K cmp.Ordered, R comparable] struct {
	Paces map[R]Pace

	held map[K]entry[R]
}

// Pace says when to try again: after Least, and after twice as long each time it fails again, up
// to Most.
type Pace struct{ Least, Most time.Duration }

type entry[R comparable] struct {
	reason R
	tried  time.Time     // last
	delay  time.Duration // until the next time
	named  bool
}

func (e entry[R]) due() time.Time { return e.tried.Add(e.delay) }

// Add sets something aside that failed at a time. It reports whether that is new: then say so to
// the user, once. Another reason than before begins with the least delay.
func (s *Aside[K, R]) Add(key K, reason R, now time.Time) (first bool) {
	if s.held == nil {
		s.held = map[K]entry[R]{}
	}
	e, known := s.held[key]
	if e.reason != reason {
		e.reason, e.delay = reason, 0
	}
	pace := s.Paces[reason]
	e.tried, e.delay = now, min(max(2*e.delay, pace.Least), pace.Most)
	s.held[key] = e
	return !known
}

// Name reports whether something that is set aside has not been named since, and notes that
// it is now.
func (s *Aside[K, R]) Name(key K) bool {
	e, known := s.held[key]
	if !known || e.named {
		return false
	}
	e.named = true
	s.held[key] = e
	return true
}

// Release ends it: the work was done, or there is none any more. It reports whether it was set
// aside, and named.
func (s *Aside[K, R]) Release(key K) (held, named bool) {
	e, known := s.held[key]
	delete(s.held, key)
	return known, e.named
}

// Has reports whether something is set aside, for one of these reasons; without any, for whichever.
func (s *Aside[K, R]) Has(key K, reasons ...R) bool {
	e, known := s.held[key]
	return known && e.is(reasons)
}

func (e entry[R]) is(reasons []R) bool {
	return len(reasons) == 0 || slices.Contains(reasons, e.reason)
}

// Keys returns what is set aside for one of these reasons, sorted; without any, for whichever.
func (s *Aside[K, R]) Keys(reasons ...R) (keys []K) {
	for key, e := range s.held {
		if e.is(reasons) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Due returns what to try now, each alone, of what Keys returns: first what has waited longest.
func (s *Aside[K, R]) Due(now time.Time, reasons ...R) []K {
	due := slices.DeleteFunc(s.Keys(reasons...), func(key K) bool { return s.held[key].due().After(now) })
	slices.SortStableFunc(due, func(a, b K) int { return s.held[a].due().Compare(s.held[b].due()) })
	return due
}

// Next is when the next of what Keys returns is due; zero if there is none.
func (s *Aside[K, R]) Next(reasons ...R) (next time.Time) {
	for _, e := range s.held {
		if e.is(reasons) && (next.IsZero() || e.due().Before(next)) {
			next = e.due()
		}
	}
	return next
}

// Hurry makes all that Keys returns due, since something has changed. What was tried within gap
// before now becomes due after it, so that constant changes do not make for constant tries.
func (s *Aside[K, R]) Hurry(now time.Time, gap time.Duration, reasons ...R) {
	for key, e := range s.held {
		if e.is(reasons) {
			e.delay = min(e.delay, max(now.Sub(e.tried), gap))
			s.held[key] = e
		}
	}
}
