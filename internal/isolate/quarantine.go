package isolate

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Quarantine remembers rows that failed alone, by their keys, and when to try
// each of them again: after Least, and after twice as long each time it fails
// again, up to Most. It is not safe for concurrent use.
type Quarantine[K cmp.Ordered] struct {
	Least, Most time.Duration

	held map[K]entry
}

type entry struct {
	tried time.Time     // last
	delay time.Duration // until the next time
}

func (e entry) due() time.Time { return e.tried.Add(e.delay) }

// Add records that a row failed at a time. It reports whether the row is new
// here: then say so to the user, once.
func (q *Quarantine[K]) Add(key K, now time.Time) (first bool) {
	if q.held == nil {
		q.held = map[K]entry{}
	}
	e, known := q.held[key]
	q.held[key] = entry{tried: now, delay: min(max(2*e.delay, q.Least), q.Most)}
	return !known
}

// Release forgets a row: it was done, or it is gone. It reports whether it was
// held.
func (q *Quarantine[K]) Release(key K) bool {
	_, known := q.held[key]
	delete(q.held, key)
	return known
}

// Keys returns the rows to leave out of batches, sorted.
func (q *Quarantine[K]) Keys() []K { return slices.Sorted(maps.Keys(q.held)) }

// Len is the number of rows held.
func (q *Quarantine[K]) Len() int { return len(q.held) }

// Has reports whether a row is held.
func (q *Quarantine[K]) Has(key K) bool {
	_, known := q.held[key]
	return known
}

// Due returns the rows to try now, each alone, those that have waited longest
// first.
func (q *Quarantine[K]) Due(now time.Time) []K {
	var due []K
	for key, e := range q.held {
		if !e.due().After(now) {
			due = append(due, key)
		}
	}
	slices.SortFunc(due, func(a, b K) int {
		return cmp.Or(q.held[a].due().Compare(q.held[b].due()), cmp.Compare(a, b))
	})
	return due
}

// Next is when the next row is due; zero if none is held.
func (q *Quarantine[K]) Next() time.Time {
	var next time.Time
	for _, e := range q.held {
		if next.IsZero() || e.due().Before(next) {
			next = e.due()
		}
	}
	return next
}

// Hurry makes all rows due, since something has changed in their table. Rows
// that were tried within gap before now become due after it, so that a table
// that changes all the time does not make for constant tries.
func (q *Quarantine[K]) Hurry(now time.Time, gap time.Duration) {
	for key, e := range q.held {
		soon := max(now.Sub(e.tried), gap)
		q.held[key] = entry{tried: e.tried, delay: min(e.delay, soon)}
	}
}
