package calendar

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// looksLikeInterval reports whether the first word is `every`.
func looksLikeInterval(timer string) bool {
	words := splitWords(timer)
	return len(words) > 0 && strings.EqualFold(words[0].text, "every")
}

// String implements Schedule.
func (v *interval) String() string {
	text := "every " + strconv.FormatInt(v.count, 10)
	switch {
	case v.unit.micros > 0:
		text += v.unit.short
	case v.count == 1:
		text += " " + v.unit.name
	default:
		text += " " + v.unit.name + "s"
	}
	at := v.anchor.time().In(v.zone.location)
	text += " from " + at.Format(time.RFC3339Nano)
	if v.zoned {
		text += " " + v.zone.name
	}
	return text
}

// intervalParser reads `every` count unit [`from` time] [zone].
type intervalParser struct {
	timer string
	words []word
}

func parseInterval(timer string, anchor time.Time) (Schedule, error) {
	p := &intervalParser{timer, splitWords(timer)[1:]}
	v := &interval{zone: utc, anchor: instantOf(anchor)}
	if err := p.amount(v); err != nil {
		return nil, err
	}
	if n := len(p.words); n > 0 && isLetter(p.words[n-1].text[0]) && !strings.EqualFold(p.words[n-1].text, "from") {
		z, err := zoneNamed(p.words[n-1].text)
		if err != nil {
			return nil, p.fail(p.words[n-1].at, "%v", err)
		}
		v.zone, v.zoned = z, true
		p.words = p.words[:n-1]
	}
	if err := p.from(v); err != nil {
		return nil, err
	}
	if len(p.words) > 0 {
		return nil, p.fail(p.words[0].at, "expected `from` with a time, a zone, or the end of the timer")
	}
	if v.anchor < instant(firstWall) || v.anchor > instant(lastWall) {
		return nil, p.fail(0, "the interval must start in the years %d to %d", firstYear, lastYear)
	}
	return v, nil
}

func (p *intervalParser) fail(at int, format string, args ...any) error {
	return &ParseError{p.timer, at, fmt.Sprintf(format, args...)}
}

// next takes the next word.
func (p *intervalParser) next() (word, bool) {
	if len(p.words) == 0 {
		return word{at: len(p.timer)}, false
	}
	w := p.words[0]
	p.words = p.words[1:]
	return w, true
}

// amount reads 15m, 2 weeks or month.
func (p *intervalParser) amount(v *interval) error {
	w, ok := p.next()
	if !ok {
		return p.fail(w.at, "expected a number and a unit after `every`, such as 15m or 2 weeks")
	}
	digits := 0
	for digits < len(w.text) && isDigit(w.text[digits]) {
		digits++
	}
	v.count = 1
	if digits > 0 {
		n, err := strconv.ParseInt(w.text[:digits], 10, 64)
		if err != nil || n < 1 {
			return p.fail(w.at, "expected a number of at least 1")
		}
		v.count = n
		w = word{w.text[digits:], w.at + digits}
		if w.text == "" {
			w, _ = p.next()
		}
	}
	u, ok := unitNamed(w.text)
	if !ok {
		return p.fail(w.at, "expected a unit: s, m, h, days, weeks, months, quarters or years")
	}
	v.unit = u
	if v.count > u.most() {
		return p.fail(w.at, "an interval has at most %d %ss", u.most(), u.name)
	}
	return nil
}

// most returns the largest sensible count of a unit: that of the supported years. It keeps all products small.
func (u unit) most() int64 {
	const years = lastYear - firstYear + 1
	switch {
	case u.micros > 0:
		return int64(years * 365 * day / u.micros)
	case u.days > 0:
		return years * 365 / u.days
	}
	return years * 12 / u.months
}

func unitNamed(text string) (unit, bool) {
	lower := strings.ToLower(text)
	for _, u := range units {
		if text == u.short && text != "" || lower == u.name || lower == u.name+"s" {
			return u, true
		}
	}
	switch lower {
	case "sec", "secs":
		return units[0], true
	case "min", "mins":
		return units[1], true
	case "hr", "hrs":
		return units[2], true
	}
	return unit{}, false
}

// from reads the anchor, if there is one.
func (p *intervalParser) from(v *interval) error {
	if len(p.words) == 0 || !strings.EqualFold(p.words[0].text, "from") {
		return nil
	}
	p.next()
	w, ok := p.next()
	if !ok {
		return p.fail(w.at, "expected a time such as 2026-01-31T02:00:00Z after `from`")
	}
	text := w.text
	if len(p.words) > 0 && isDigit(p.words[0].text[0]) {
		clock, _ := p.next()
		text += "T" + clock.text
	}
	for _, layout := range [...]string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			v.anchor = instantOf(t)
			return nil
		}
	}
	for _, layout := range [...]string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			v.anchor = v.zone.resolve(wall(instantOf(t)))
			return nil
		}
	}
	return p.fail(w.at, "expected a time such as 2026-01-31T02:00:00Z")
}
