package elapse

import "math/bits"

// A set of small numbers is a word with one bit for each: bit n is set when n is a member.

// nextBit returns the smallest member that is at least n, or -1. Members end at 63, n may be
// larger.
func nextBit(set uint64, n int) int {
	if rest := set >> uint(n); rest != 0 {
		return n + bits.TrailingZeros64(rest)
	}
	return -1
}

// prevBit returns the largest member that is at most n, or a negative number. n may be negative
// itself.
func prevBit(set uint64, n int) int {
	return bits.Len64(set<<uint(63-n)) - 1 - (63 - n)
}

// HasBit reports whether n is a member.
func HasBit(set uint64, n int) bool { return set>>uint(n)&1 != 0 }

// BitRange returns the set of low to high, both included.
func BitRange(low, high int) uint64 {
	return ^uint64(0) << uint(low) & (^uint64(0) >> uint(63-high))
}

// Members lists the numbers in a set.
func Members(set uint64) (list []int) {
	for n := nextBit(set, 0); n >= 0; n = nextBit(set, n+1) {
		list = append(list, n)
	}
	return list
}
