package convert

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// set is a set of numbers between two bounds.
type set struct {
	low, high int
	bits      uint64
}

func (s set) all() bool { return bits.OnesCount64(s.bits) == s.high-s.low+1 }

func (s set) has(n int) bool { return s.bits&(1<<n) != 0 }

// step is n if the set is low, low+n, ... up to its end, at least three numbers; otherwise
// 0.
func (s set) step() int {
	if !s.has(s.low) {
		return 0
	}
	for n := 2; 2*n <= s.high-s.low; n++ {
		other := set{low: s.low, high: s.high}
		for v := s.low; v <= s.high; v += n {
			other.bits |= 1 << v
		}
		if other.bits == s.bits {
			return n
		}
	}
	return 0
}

// list writes the numbers as a list with ranges.
func (s set) list(between string, write func(int) string) string {
	var items []string
	for v := s.low; v <= s.high; v++ {
		if !s.has(v) {
			continue
		}
		last := v
		for last < s.high && s.has(last+1) {
			last++
		}
		switch {
		case last >= v+2:
			items = append(items, write(v)+between+write(last))
		default:
			for n := v; n <= last; n++ {
				items = append(items, write(n))
			}
		}
		v = last
	}
	return strings.Join(items, ",")
}

// parse adds a list of items a, a-b, a/n, a-b/n, * and */n, where between stands for
// the dash.
func (s *set) parse(text, between string) error {
	for item := range strings.SplitSeq(text, ",") {
		body, step, stepped := strings.Cut(item, "/")
		n := 1
		if stepped {
			var err error
			if n, err = strconv.Atoi(step); err != nil || n < 1 {
				return fmt.Errorf("%q has no equivalent", item)
			}
		}
		low, high := s.low, s.high
		if body != "*" && body != "?" {
			first, last, ranged := strings.Cut(body, between)
			var err error
			if low, err = strconv.Atoi(first); err != nil {
				return fmt.Errorf("%q has no equivalent", item)
			}
			switch {
			case ranged:
				if high, err = strconv.Atoi(last); err != nil {
					return fmt.Errorf("%q has no equivalent", item)
				}
			case !stepped:
				high = low
			}
		}
		for v := low; v <= high && v < 64; v += n {
			s.bits |= 1 << v
		}
	}
	return nil
}
