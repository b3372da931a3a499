package explain

import (
	"time"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// readings is a set of readings of a wall clock.
type readings interface {
	NextReading(from elapse.Wall) (elapse.Wall, bool) // the earliest one that is at least from
}

// lintClock looks at the changes of a zone's clock from a time on: at the readings that a change
// leaves out, and at those that it repeats.
func lintClock(z *elapse.Zone, set readings, everyHour bool, at time.Time) (list []Finding) {
	from, to := elapse.InstantOf(at), elapse.InstantOf(at.AddDate(lintYears, 0, 0))
	var moved, added, merged []Finding
	for _, c := range z.Changes(from, to) {
		if c.After > c.Before {
			moved = append(moved, gap(c, set)...)
		} else {
			a, m := overlap(c, set, everyHour)
			added, merged = append(added, a...), append(merged, m...)
		}
	}
	return append(append(moved, added...), merged...)
}

// gap returns the first reading that is left out, unless the timer elapses at that instant anyway.
func gap(c elapse.Change, set readings) []Finding {
	start, end := elapse.Wall(c.At)+c.Before, elapse.Wall(c.At)+c.After
	w, ok := set.NextReading(start)
	if !ok || w >= end {
		return nil
	}
	later := w + c.After - c.Before // what the clock shows instead
	if other, ok := set.NextReading(later); ok && other == later {
		return nil
	}
	return []Finding{{LintMoved, readingText(w) + " does not exist and elapses at " + clockText(later%elapse.Day), elapse.Instant(w - c.Before).Time()}}
}

// overlap returns the first reading that occurs twice: it elapses twice, or once.
func overlap(c elapse.Change, set readings, everyHour bool) (added, merged []Finding) {
	start, end := elapse.Wall(c.At)+c.After, elapse.Wall(c.At)+c.Before
	w, ok := set.NextReading(start)
	switch {
	case !ok || w >= end:
		return nil, nil
	case everyHour:
		return []Finding{{LintAdded, readingText(w) + " occurs twice and elapses both times", elapse.Instant(w - c.After).Time()}}, nil
	}
	return nil, []Finding{{LintMerged, readingText(w) + " occurs twice and elapses the first time only",
		elapse.Instant(w - c.Before).Time()}}
}

// readingText names a reading with its date.
func readingText(w elapse.Wall) string {
	return elapse.Instant(w).Time().Format(time.DateOnly) + " " + clockText(w%elapse.Day)
}
