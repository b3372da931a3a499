package calendar

import (
	"fmt"
	"strings"
)

// scanner reads a calendar event from left to right.
type scanner struct {
	timer    string
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

func (s *scanner) take(prefix string) bool {
	if !strings.HasPrefix(s.rest(), prefix) {
		return false
	}
	s.pos += len(prefix)
	return true
}

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

func (s *scanner) fail(format string, args ...any) error { return s.failAt(s.pos, format, args...) }

func (s *scanner) failAt(offset int, format string, args ...any) error {
	return &ParseError{s.timer, offset, fmt.Sprintf(format, args...)}
}

// chain reads `*` or a list of components. Numbers are multiplied by unit, and may have a fraction when it is not 1.
func (s *scanner) chain(unit int64) (chain, error) {
	if s.take("*") {
		if unit > 1 {
			return chain{{0, -1, unit}}, nil
		}
		return nil, nil
	}
	var c chain
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
func (s *scanner) component(unit int64) (p component, err error) {
	p.stop = -1
	if p.start, err = s.number(unit); err != nil {
		return p, err
	}
	if s.take("..") {
		if p.stop, err = s.number(unit); err != nil {
			return p, err
		}
		p.repeat = unit
	}
	if at := s.pos; s.take("/") {
		if p.repeat, err = s.number(unit); err != nil {
			return p, err
		}
		if p.repeat == 0 {
			return p, s.failAt(at+1, "a repetition must be at least 1")
		}
	} else if unit > 1 && p.stop >= 0 && p.start+p.repeat > p.stop {
		return p, s.failAt(at, "the range is shorter than a second; give a repetition such as /0.5")
	}
	return p, nil
}

// number reads a decimal number, rounded to millionths where a fraction is allowed.
func (s *scanner) number(unit int64) (int64, error) {
	const limit = 1 << 40 // larger numbers are too large for every field
	if !isDigit(s.peek()) {
		return 0, s.fail("expected a number")
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
		return 0, s.fail("expected a fraction of a second after the point")
	}
	for place := unit / 10; isDigit(s.peek()); s.pos++ {
		digit := int64(s.peek() - '0')
		if place == 0 {
			if digit >= 5 {
				n++
			}
			break
		}
		n += digit * place
		place /= 10
	}
	for isDigit(s.peek()) {
		s.pos++
	}
	return n, nil
}

// check makes sure that every component has a place between low and high.
func (s *scanner) check(c chain, name string, low, high int64, at int) error {
	for _, p := range c {
		switch {
		case p.start < low || p.start > high:
			return s.failAt(at, "a %s must lie in %d..%d", name, low, high)
		case p.stop > high:
			return s.failAt(at, "a %s must lie in %d..%d", name, low, high)
		case p.stop >= 0 && p.start+p.repeat > p.stop:
			return s.failAt(at, "the range of %ss holds no second value", name)
		case p.stop < 0 && p.start+p.repeat > high:
			return s.failAt(at, "the repetition of the %s goes beyond %d at once", name, high)
		}
	}
	return nil
}

// checkFromEnd does the same for days that count from the end of the month.
func (s *scanner) checkFromEnd(c chain, at int) error {
	for _, p := range c {
		switch {
		case p.start < 1 || p.start > 28 || p.stop > 28:
			return s.failAt(at, "a day from the end of the month must lie in 1..28")
		case p.stop >= 0 && p.start+p.repeat > p.stop:
			return s.failAt(at, "the range of days holds no second value")
		case p.stop < 0 && p.start-p.repeat < 1:
			return s.failAt(at, "the repetition goes beyond the end of the month at once")
		}
	}
	return nil
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
