package elapse

// timetable is a compiled timer in wall-clock time: a set of days, and a set of times on each of
// them.
type timetable struct {
	dates dates
	clock Clock
}

// The wall-clock times that are searched; one day more on either side lies in the tables of the
// calendar.
const (
	FirstWall Wall = 0
	LastWall       = 84_006*Day - 1 // the end of LastYear
)

// next returns the earliest reading of the clock that is at least w.
func (t *timetable) next(w Wall) (Wall, bool) {
	if w > LastWall {
		return 0, false
	}
	today, at := max(w, FirstWall).Split()
	d, ok := t.dates.next(today)
	if ok && d == today {
		if c, ok := t.clock.Next(at); ok {
			return Wall(today)*Day + c, true
		}
		d, ok = t.dates.next(today + 1)
	}
	if !ok {
		return 0, false
	}
	return Wall(d)*Day + t.clock.first(), true
}

// prev returns the latest reading of the clock that is at most w.
func (t *timetable) prev(w Wall) (Wall, bool) {
	if w < FirstWall {
		return 0, false
	}
	today, at := min(w, LastWall).Split()
	d, ok := t.dates.prev(today)
	if ok && d == today {
		if c, ok := t.clock.Prev(at); ok {
			return Wall(today)*Day + c, true
		}
		d, ok = t.dates.prev(today - 1)
	}
	if !ok {
		return 0, false
	}
	return Wall(d)*Day + t.clock.last(), true
}
