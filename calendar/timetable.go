package calendar

// timetable is a compiled timer in wall-clock time: a set of days, and a set of times on each of them.
type timetable struct {
	dates dates
	clock clock
}

// The wall-clock times that are searched; one day more on either side lies in the tables of the calendar.
const (
	firstWall wall = 0
	lastWall       = 84_006*day - 1 // the end of lastYear
)

// next returns the earliest reading of the clock that is at least w.
func (t *timetable) next(w wall) (wall, bool) {
	if w > lastWall {
		return 0, false
	}
	today, at := max(w, firstWall).split()
	d, ok := t.dates.next(today)
	if ok && d == today {
		if c, ok := t.clock.next(at); ok {
			return wall(today)*day + c, true
		}
		d, ok = t.dates.next(today + 1)
	}
	if !ok {
		return 0, false
	}
	return wall(d)*day + t.clock.first(), true
}

// prev returns the latest reading of the clock that is at most w.
func (t *timetable) prev(w wall) (wall, bool) {
	if w < firstWall {
		return 0, false
	}
	today, at := min(w, lastWall).split()
	d, ok := t.dates.prev(today)
	if ok && d == today {
		if c, ok := t.clock.prev(at); ok {
			return wall(today)*day + c, true
		}
		d, ok = t.dates.prev(today - 1)
	}
	if !ok {
		return 0, false
	}
	return wall(d)*day + t.clock.last(), true
}
