package calendar

import (
	"strings"
	"time"
)

// Union is a schedule of several timers: it elapses whenever one of them does, and once where
// several elapse at the same time. ParseAt makes one of a timer with semicolons.
type Union struct {
	Parts []Schedule // at least two, in the order of the timer
	timer string     // as it was given
}

// Next implements Schedule.
func (u Union) Next(after time.Time) (next time.Time) {
	for _, s := range u.Parts {
		if t := s.Next(after); next.IsZero() || !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	return next
}

// Prev implements Schedule.
func (u Union) Prev(before time.Time) (last time.Time) {
	for _, s := range u.Parts {
		if t := s.Prev(before); t.After(last) {
			last = t
		}
	}
	return last
}

// String implements Schedule. A normal form that is too long for a timer gives way to what was given.
func (u Union) String() string {
	texts := make([]string, len(u.Parts))
	for i, s := range u.Parts {
		texts[i] = s.String()
	}
	if normal := strings.Join(texts, partEnd+" "); len(normal) <= MaxLength {
		return normal
	}
	return u.timer
}

// partEnd separates the timers of a [Union].
const partEnd = ";"
