package calendar

import "time"

// readings is a set of readings of a wall clock.
type readings interface {
	next(from wall) (wall, bool) // the earliest one that is at least from
}

// lintClock looks at the changes of a zone's clock from a time on: at the readings that a change leaves out, and at
// those that it repeats.
func lintClock(z *zone, set readings, everyHour bool, at time.Time) (list []Finding) {
	from, to := instantOf(at), instantOf(at.AddDate(lintYears, 0, 0))
	var moved, added, merged []Finding
	for i := 1; i < len(z.periods); i++ {
		c := change{z.periods[i].start, z.periods[i-1].offset, z.periods[i].offset}
		if c.at <= from || c.at > to {
			continue
		}
		if c.after > c.before {
			m, g := c.gap(set)
			moved, merged = append(moved, m...), append(merged, g...)
		} else {
			a, g := c.overlap(set, everyHour)
			added, merged = append(added, a...), append(merged, g...)
		}
	}
	return append(append(moved, added...), merged...)
}

// change is a change of the clock at an instant, from one offset to another.
type change struct {
	at            instant
	before, after wall
}

// gap returns the first reading that is left out and elapses by itself, and the first one that elapses together with
// another. It looks at a limited number of readings.
func (c change) gap(set readings) (moved, merged []Finding) {
	start, end := wall(c.at)+c.before, wall(c.at)+c.after
	w, ok := set.next(start)
	for range 10_000 {
		if !ok || w >= end || moved != nil && merged != nil {
			break
		}
		later := w + c.after - c.before // what the clock shows instead
		at := instant(w - c.before).time()
		if other, ok := set.next(later); ok && other == later {
			if merged == nil {
				merged = []Finding{{LintMerged, readingText(w) + " does not exist and elapses together with " +
					clockText(later%day), at}}
			}
		} else if moved == nil {
			moved = []Finding{{LintMoved, readingText(w) + " does not exist and elapses at " + clockText(later%day), at}}
		}
		w, ok = set.next(w + 1)
	}
	return moved, merged
}

// overlap returns the first reading that occurs twice: it elapses twice, or once.
func (c change) overlap(set readings, everyHour bool) (added, merged []Finding) {
	start, end := wall(c.at)+c.after, wall(c.at)+c.before
	w, ok := set.next(start)
	switch {
	case !ok || w >= end:
		return nil, nil
	case everyHour:
		return []Finding{{LintAdded, readingText(w) + " occurs twice and elapses both times", instant(w - c.after).time()}}, nil
	}
	return nil, []Finding{{LintMerged, readingText(w) + " occurs twice and elapses the first time only",
		instant(w - c.before).time()}}
}

// readingText names a reading with its date.
func readingText(w wall) string {
	return instant(w).time().Format(time.DateOnly) + " " + clockText(w%day)
}

// next makes an interval that counts days or longer a set of readings.
func (v *interval) next(from wall) (wall, bool) {
	for k := max(v.guess(instant(from-v.start)+v.anchor)-1, 0); ; k++ {
		w, ok := v.reading(k)
		if !ok || w >= from {
			return w, ok
		}
	}
}
