package calendar

import (
	"strings"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// eventField says what a field of a calendar event may hold.
type eventField struct {
	name      string
	low, high int64
	unit      int64
	backward  bool // counts from the end of the month, so that a repetition goes down
}

var (
	yearField    = eventField{"year", elapse.FirstYear, elapse.LastYear, 1, false}
	monthField   = eventField{"month", 1, 12, 1, false}
	dayField     = eventField{"day", 1, 31, 1, false}
	fromEndField = eventField{"day from the end of the month", 1, 28, 1, true}
	hourField    = eventField{"hour", 0, 23, 1, false}
	minuteField  = eventField{"minute", 0, 59, 1, false}
	secondField  = eventField{"second", 0, 60*int64(elapse.Second) - 1, int64(elapse.Second), false}
)

// checked returns the chain in normal form if each of its components has a place in the field. The
// chain starts at the given place of the timer.
func (s *eventParser) checked(c elapse.Chain, f eventField, at int) (elapse.Chain, error) {
	c.Reduce()
	for i, p := range c {
		msg := f.complaint(p)
		if msg == "" {
			continue
		}
		text, place := s.componentAt(at, i)
		return nil, s.failAt(place, "%s %s%s%s", f.name, text, msg, f.suggest(p))
	}
	return c.Sorted(), nil
}

// complaint says why a component has no place in the field, or nothing.
func (f eventField) complaint(p elapse.Component) string {
	switch {
	case p.Start < f.low || p.Start > f.high || p.Stop > f.high:
		return " is not in " + f.span()
	case p.Stop >= 0 && p.Stop < p.Start:
		return " ends before it starts; write two, as in 22..23,0..5"
	case p.Stop < 0 && f.backward && p.Start-p.Repeat < f.low:
		return " repeats beyond the last day at once"
	case p.Stop < 0 && !f.backward && p.Start+p.Repeat > f.high:
		return " repeats beyond " + string(elapse.AppendNumber(nil, f.high, 1, f.unit)) + " at once"
	}
	return ""
}

func (f eventField) span() string {
	b := elapse.AppendNumber(nil, f.low, 1, f.unit)
	return string(elapse.AppendNumber(append(b, ".."...), f.high/f.unit, 1, 1))
}

// suggest offers what was probably meant.
func (f eventField) suggest(p elapse.Component) string {
	switch {
	case f.name == hourField.name && p.Start == 24 && p.Stop < 0:
		return "; midnight is 00:00, at the start of a day"
	case f.backward && p.Start > 28:
		return "; a month may have 28 days only"
	}
	return ""
}

// componentAt returns the text and the place of the i-th component of a list.
func (s *eventParser) componentAt(at, i int) (string, int) {
	for ; i > 0; i-- {
		at += strings.IndexByte(s.timer[at:s.end], ',') + 1
	}
	text := s.timer[at:s.end]
	if end := strings.IndexAny(text, ",:-~ "); end >= 0 {
		text = text[:end]
	}
	return text, at
}
