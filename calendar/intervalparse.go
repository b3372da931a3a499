package calendar

import (
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// intervalParser reads `every` amount [`from` time] [zone]. Its words are those still to be read.
type intervalParser struct{ text }

func parseInterval(t text, anchor time.Time) (Schedule, error) {
	p := &intervalParser{text{timer: t.timer, words: t.words[1:]}}
	v := &elapse.Interval{Zone: elapse.UTC}
	if !anchor.IsZero() {
		v.Anchor = elapse.InstantOf(anchor)
	}
	if err := p.amount(v); err != nil {
		return nil, err
	}
	if err := p.zoneSuffix(v); err != nil {
		return nil, err
	}
	at, err := p.from(v)
	if err != nil {
		return nil, err
	}
	if len(p.words) > 0 {
		return nil, p.failAt(p.words[0].at, "expected `from` and a time, a zone, or the end of the timer")
	}
	if v.Anchor < elapse.Instant(elapse.FirstWall) || v.Anchor > elapse.Instant(elapse.LastWall) {
		return nil, p.failAt(at, "an interval must start in the years %d to %d", elapse.FirstYear, elapse.LastYear)
	}
	if v.Unit.Micros > 0 || v.Zone.Resolve(v.Start) != v.Anchor { // else it is what was written, which may lie in a gap
		v.Start = v.Zone.Reading(v.Anchor)
	}
	return v, nil
}

// next takes the next word; an empty one at the end of the timer.
func (p *intervalParser) next() word {
	if len(p.words) == 0 {
		return word{at: len(p.timer)}
	}
	w := p.words[0]
	p.words = p.words[1:]
	return w
}

// amount reads `15m`, `2 weeks` or `month`. Units of a fixed length may follow each other, as in
// `1h30m`.
func (p *intervalParser) amount(v *elapse.Interval) error {
	w := p.next()
	count, u, rest, err := p.part(w)
	if err != nil {
		return err
	}
	for rest = p.following(rest); rest.text != ""; {
		more, smaller, after, err := p.part(rest)
		if err != nil {
			return err
		}
		if u.Micros == 0 || smaller.Micros == 0 {
			return p.failAt(rest.at, "only hours, minutes and seconds can be added up")
		}
		if most := elapse.Units[0].Most(); count <= most && more <= most {
			count, u = int64(elapse.Wall(count)*u.Micros+elapse.Wall(more)*smaller.Micros)/int64(elapse.Second), elapse.Units[0]
		}
		rest = p.following(after)
	}
	v.Count, v.Unit = count, u
	if v.Count > v.Unit.Most() {
		return p.failAt(w.at, "an interval has at most %d %ss", v.Unit.Most(), v.Unit.Name)
	}
	v.Simplify()
	return nil
}

// following returns what is left over of a word, or the next word when that is a number with a
// unit.
func (p *intervalParser) following(rest word) word {
	if rest.text == "" && len(p.words) > 0 && isDigit(p.words[0].text[0]) {
		return p.next()
	}
	return rest
}

// part reads a number and a unit, which may be the next word. What follows the unit in its word is
// left over.
func (p *intervalParser) part(w word) (count int64, u elapse.Unit, rest word, err error) {
	count = 1
	digits := len(w.text) - len(strings.TrimLeft(w.text, "0123456789"))
	if digits > 0 {
		count, err = strconv.ParseInt(w.text[:digits], 10, 64)
		if err != nil || count < 1 {
			return 0, u, rest, p.notPositive(w)
		}
		if w = (word{w.text[digits:], w.at + digits}); w.text == "" {
			w = p.next()
		}
	}
	if strings.HasPrefix(w.text, "-") {
		return 0, u, rest, p.notPositive(w)
	}
	letters := 0
	for letters < len(w.text) && isLetter(w.text[letters]) {
		letters++
	}
	u, ok := elapse.UnitNamed(w.text[:letters])
	if !ok {
		return 0, u, rest, p.notUnit(w)
	}
	return count, u, word{w.text[letters:], w.at + letters}, nil
}

func (p *intervalParser) notPositive(w word) error {
	return p.failAt(w.at, "an interval must be positive; use a number of at least 1")
}

func (p *intervalParser) notUnit(w word) error {
	if w.text == "" {
		return p.failAt(w.at, "expected a unit: s, m, h, days, weeks, months, quarters or years")
	}
	const wrong = "%q is not a unit: s, m, h, days, weeks, months, quarters or years; " + timeOfDay
	if w.text == "M" || w.text == "mo" {
		return p.failMeant(w.at, "months", wrong, w.text)
	}
	return p.failNear(w.at, w.text, []string{"second", "minute", "hour", "day", "week", "month", "quarter", "year"}, wrong, w.text)
}

// zoneSuffix takes the zone off the end.
func (p *intervalParser) zoneSuffix(v *elapse.Interval) error {
	n := len(p.words)
	if n == 0 || !isLetter(p.words[n-1].text[0]) || strings.EqualFold(p.words[n-1].text, "from") {
		return nil
	}
	last := p.words[n-1]
	z, err := p.zoneAt(last.at, last.text)
	if err != nil {
		return err
	}
	v.Zone, v.Zoned = z, true
	p.words = p.words[:n-1]
	return nil
}

// from reads the anchor, if there is one, and returns its place.
func (p *intervalParser) from(v *elapse.Interval) (at int, err error) {
	if len(p.words) == 0 || !strings.EqualFold(p.words[0].text, "from") {
		return 0, nil
	}
	p.next()
	w := p.next()
	text := w.text
	if len(p.words) > 0 && isDigit(p.words[0].text[0]) {
		text += "T" + p.next().text
	}
	for _, layout := range [...]string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			v.Anchor = elapse.InstantOf(t)
			return w.at, nil
		}
	}
	for _, layout := range [...]string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			v.Start = elapse.Wall(elapse.InstantOf(t))
			v.Anchor = v.Zone.Resolve(v.Start)
			return w.at, nil
		}
	}
	return 0, p.failAt(w.at, "expected a time such as 2026-01-31T02:00:00Z after `from`")
}
