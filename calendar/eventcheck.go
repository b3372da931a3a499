package calendar

import "strings"

// eventField says what a field of a calendar event may hold.
type eventField struct {
	name      string
	low, high int64
	unit      int64
	backward  bool // counts from the end of the month, so that a repetition goes down
}

var (
	yearField    = eventField{"year", firstYear, lastYear, 1, false}
	monthField   = eventField{"month", 1, 12, 1, false}
	dayField     = eventField{"day", 1, 31, 1, false}
	fromEndField = eventField{"day from the end of the month", 1, 28, 1, true}
	hourField    = eventField{"hour", 0, 23, 1, false}
	minuteField  = eventField{"minute", 0, 59, 1, false}
	secondField  = eventField{"second", 0, 60*int64(second) - 1, int64(second), false}
)

// checked returns the chain in normal form if each of its components has a place in the field. The chain starts at the
// given place of the timer.
func (s *scanner) checked(c chain, f eventField, at int) (chain, error) {
	c.reduce()
	for i, p := range c {
		msg := f.complaint(p)
		if msg == "" {
			continue
		}
		text, place := s.componentAt(at, i)
		return nil, s.failAt(place, "%s %s%s%s", f.name, text, msg, f.suggest(p))
	}
	return c.sorted(), nil
}

// complaint says why a component has no place in the field, or nothing.
func (f eventField) complaint(p component) string {
	switch {
	case p.start < f.low || p.start > f.high || p.stop > f.high:
		return " is not in " + f.span()
	case p.stop >= 0 && p.stop < p.start:
		return " ends before it starts"
	case p.stop < 0 && f.backward && p.start-p.repeat < f.low:
		return " repeats beyond the last day at once"
	case p.stop < 0 && !f.backward && p.start+p.repeat > f.high:
		return " repeats beyond " + string(appendNumber(nil, f.high, 1, f.unit)) + " at once"
	}
	return ""
}

func (f eventField) span() string {
	b := appendNumber(nil, f.low, 1, f.unit)
	return string(appendNumber(append(b, ".."...), f.high/f.unit, 1, 1))
}

// suggest offers what was probably meant.
func (f eventField) suggest(p component) string {
	switch {
	case f.name == hourField.name && p.start == 24 && p.stop < 0:
		return "; midnight is 00:00, at the start of a day"
	case f.backward && p.start > 28:
		return "; a month may have 28 days only"
	case p.stop >= f.low && p.stop < p.start && p.start <= f.high && p.repeat == f.unit && f.name != yearField.name:
		low, high := component{f.low, p.stop, f.unit}, component{p.start, f.high / f.unit * f.unit, f.unit}
		return "; did you mean " + string(chain{low, high}.append(nil, 1, f.unit)) + "?"
	}
	return ""
}

// componentAt returns the text and the place of the i-th component of a list.
func (s *scanner) componentAt(at, i int) (string, int) {
	for ; i > 0; i-- {
		at += strings.IndexByte(s.timer[at:s.end], ',') + 1
	}
	text := s.timer[at:s.end]
	if end := strings.IndexAny(text, ",:-~ "); end >= 0 {
		text = text[:end]
	}
	return text, at
}
