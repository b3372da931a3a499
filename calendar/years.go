package calendar

// yearSet is a set of years: bit 0 of the first word is firstYear. It may be asked for years up to tableEnd.
type yearSet [4]uint64

// everyYear returns the set of all supported years.
func everyYear() (s yearSet) {
	for y := firstYear; y <= lastYear; y++ {
		s.add(y)
	}
	return s
}

func (s *yearSet) add(year int) {
	i := year - firstYear
	s[i/64] |= 1 << (i % 64)
}

func (s *yearSet) has(year int) bool {
	i := year - firstYear
	return i >= 0 && hasBit(s[i/64], i%64)
}

// next returns the first year of the set that is at least the given one, or 0.
func (s *yearSet) next(year int) int {
	for i := max(year-firstYear, 0); i < 256; i = (i/64 + 1) * 64 {
		if n := nextBit(s[i/64], i%64); n >= 0 {
			return firstYear + i/64*64 + n
		}
	}
	return 0
}

// prev returns the last year of the set that is at most the given one, or 0.
func (s *yearSet) prev(year int) int {
	for i := year - firstYear; i >= 0; i = i/64*64 - 1 {
		if n := prevBit(s[i/64], i%64); n >= 0 {
			return firstYear + i/64*64 + n
		}
	}
	return 0
}

func (s *yearSet) members() (list []int) {
	for y := s.next(firstYear); y > 0; y = s.next(y + 1) {
		list = append(list, y)
	}
	return list
}
