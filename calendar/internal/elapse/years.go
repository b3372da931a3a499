package elapse

// YearSet is a set of years: bit 0 of the first word is FirstYear. It may be asked for years up to
// tableEnd.
type YearSet [4]uint64

// EveryYear returns the set of all supported years.
func EveryYear() (s YearSet) {
	for y := FirstYear; y <= LastYear; y++ {
		s.Add(y)
	}
	return s
}

// Add adds a year that is supported.
func (s *YearSet) Add(year int) {
	i := year - FirstYear
	s[i/64] |= 1 << (i % 64)
}

func (s *YearSet) has(year int) bool {
	i := year - FirstYear
	return i >= 0 && HasBit(s[i/64], i%64)
}

// next returns the first year of the set that is at least the given one, or 0.
func (s *YearSet) next(year int) int {
	for i := max(year-FirstYear, 0); i < 256; i = (i/64 + 1) * 64 {
		if n := nextBit(s[i/64], i%64); n >= 0 {
			return FirstYear + i/64*64 + n
		}
	}
	return 0
}

// prev returns the last year of the set that is at most the given one, or 0.
func (s *YearSet) prev(year int) int {
	for i := year - FirstYear; i >= 0; i = i/64*64 - 1 {
		if n := prevBit(s[i/64], i%64); n >= 0 {
			return FirstYear + i/64*64 + n
		}
	}
	return 0
}

// Members lists the years in order.
func (s *YearSet) Members() (list []int) {
	for y := s.next(FirstYear); y > 0; y = s.next(y + 1) {
		list = append(list, y)
	}
	return list
}
