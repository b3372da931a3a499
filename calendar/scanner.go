package calendar

import (
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// scanner reads a timer from left to right, up to end.
type scanner struct {
	text
	pos, end int
}

func (s *scanner) rest() string { return s.timer[s.pos:s.end] }
func (s *scanner) done() bool   { return s.pos >= s.end }

// peek returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	if s.done() {
		return 0
	}
	return s.timer[s.pos]
}

// partDone reports whether a date or a list of weekdays is over.
func (s *scanner) partDone() bool { return s.done() || s.peek() == ' ' }

func (s *scanner) take(prefix string) bool {
	if !strings.HasPrefix(s.rest(), prefix) {
		return false
	}
	s.pos += len(prefix)
	return true
}

// takeFold is take in any case.
func (s *scanner) takeFold(prefix string) bool {
	if rest := s.rest(); len(rest) < len(prefix) || !strings.EqualFold(rest[:len(prefix)], prefix) {
		return false
	}
	s.pos += len(prefix)
	return true
}

func (s *scanner) skipSpaces() {
	for s.peek() == ' ' {
		s.pos++
	}
}

// wordAt returns the letters, digits and dashes from a place on.
func (s *scanner) wordAt(at int) string {
	i := at
	for i < s.end && (isLetter(s.timer[i]) || isDigit(s.timer[i]) || s.timer[i] == '-') {
		i++
	}
	return s.timer[at:i]
}

// found names what stands at the current place.
func (s *scanner) found() string {
	if s.done() {
		return "the end"
	}
	return fmt.Sprintf("%q", string([]rune(s.rest())[:1]))
}

// fail returns the error for what stands at the current place.
func (s *scanner) fail(format string, args ...any) error { return s.failAt(s.pos, format, args...) }

// chain reads `*` or a list of components. Numbers are multiplied by unit, and may have a fraction
// when it is not 1.
func (s *scanner) chain(unit int64) (elapse.Chain, error) {
	if s.take("*") {
		switch s.peek() {
		case '/':
			return nil, s.fail("`*` has no repetition; it needs a start, as 0/5 in a time or 1/5 in a date")
		case ',', '.':
			return nil, s.fail("`*` stands alone, without a list or a range")
		}
		if unit > 1 {
			return elapse.Chain{elapse.Repeat(0, unit)}, nil
		}
		return nil, nil
	}
	var c elapse.Chain
	for {
		p, err := s.component(unit)
		if err != nil {
			return nil, err
		}
		c = append(c, p)
		if !s.take(",") {
			return c, nil
		}
	}
}

// component reads start[..stop][/repeat].
func (s *scanner) component(unit int64) (p elapse.Component, err error) {
	first := s.pos
	p.Stop = -1
	if p.Start, err = s.number(unit); err != nil {
		return p, err
	}
	if s.take("..") {
		if p.Stop, err = s.number(unit); err != nil {
			return p, err
		}
		p.Repeat = unit
	}
	if at := s.pos; s.take("/") {
		if p.Repeat, err = s.number(unit); err != nil {
			return p, err
		}
		if p.Repeat == 0 {
			return p, s.failAt(at+1, "a repetition must be greater than 0")
		}
	} else if unit > 1 && p.Stop >= 0 && p.Start+p.Repeat > p.Stop {
		return p, s.failAt(first, "a range shorter than a second needs a repetition, as 0..0.5/0.1")
	}
	return p, nil
}

// number reads a decimal number, rounded to millionths where a fraction is allowed.
func (s *scanner) number(unit int64) (int64, error) {
	const limit = 1 << 40 // larger numbers are too large for every field
	if !isDigit(s.peek()) {
		return 0, s.notNumber()
	}
	var n int64
	for ; isDigit(s.peek()); s.pos++ {
		n = min(n*10+int64(s.peek()-'0'), limit)
	}
	n *= unit
	if unit == 1 || s.peek() != '.' || strings.HasPrefix(s.rest(), "..") {
		return n, nil
	}
	s.pos++
	if !isDigit(s.peek()) {
		return 0, s.fail("expected the fraction of a second after the point, found %s", s.found())
	}
	return n + s.fraction(unit), nil
}

// fraction reads the digits after the point.
func (s *scanner) fraction(unit int64) (n int64) {
	place := unit / 10
	for ; isDigit(s.peek()); s.pos++ {
		digit := int64(s.peek() - '0')
		switch {
		case place > 0:
			n += digit * place
			place /= 10
		case place == 0:
			if digit >= 5 {
				n++
			}
			place = -1
		}
	}
	return n
}
