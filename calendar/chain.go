package calendar

import (
	"cmp"
	"slices"
	"strconv"
)

// component is one item of a list: a value, a range (stop is not negative), or a repetition up to the end of the field.
// A range has a repetition too.
type component struct {
	start, stop, repeat int64 // stop: -1 without a range; repeat: 0 for a single value
}

// chain is a list of components in normal form: sorted, without doubles. A nil chain is `*`.
type chain []component

// reduce lets each range end with a member, and turns ranges of one member into values.
func (c chain) reduce() {
	for i := range c {
		if p := &c[i]; p.stop >= p.start {
			p.stop -= (p.stop - p.start) % p.repeat
			if p.stop == p.start {
				p.stop, p.repeat = -1, 0
			}
		}
	}
}

// sorted brings reduced components into the order in which systemd prints them.
func (c chain) sorted() chain {
	if len(c) < 2 {
		return c
	}
	slices.SortFunc(c, func(a, b component) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.stop, b.stop), cmp.Compare(a.repeat, b.repeat))
	})
	return slices.Compact(c)
}

// set returns the members up to high as a bit set; all of low to high for a nil chain.
func (c chain) set(low, high int) uint64 {
	if c == nil {
		return bitRange(low, high)
	}
	var set uint64
	for _, p := range c {
		for v := p.start; v <= p.end(int64(high)); v += p.repeat {
			set |= 1 << uint(v)
			if p.repeat == 0 {
				break
			}
		}
	}
	return set
}

// end returns the last value that a component can reach in a field that ends with high.
func (p component) end(high int64) int64 {
	switch {
	case p.repeat == 0:
		return p.start
	case p.stop >= 0:
		return min(p.stop, high)
	}
	return high
}

// has reports whether v is a member.
func (c chain) has(v int64) bool {
	n, ok := c.next(v, v)
	return ok && n == v
}

// next returns the smallest member from v on, in a field that ends with high.
func (c chain) next(v, high int64) (best int64, ok bool) {
	for _, p := range c {
		n := p.start
		if v > n && p.repeat > 0 {
			n += (v - n + p.repeat - 1) / p.repeat * p.repeat
		}
		if n >= v && n <= p.end(high) && (!ok || n < best) {
			best, ok = n, true
		}
	}
	return best, ok
}

// prev returns the largest member from 0 to v, in a field that ends with high.
func (c chain) prev(v, high int64) (best int64, ok bool) {
	for _, p := range c {
		n := min(v, p.end(high))
		if n < p.start {
			continue
		}
		if p.repeat > 0 {
			n -= (n - p.start) % p.repeat
		} else {
			n = p.start
		}
		if !ok || n > best {
			best, ok = n, true
		}
	}
	return best, ok
}

// whole reports whether all members are multiples of unit.
func (c chain) whole(unit int64) bool {
	for _, p := range c {
		if p.start%unit != 0 || p.repeat%unit != 0 {
			return false
		}
	}
	return true
}

// divide returns the chain in a unit of which all members are multiples.
func (c chain) divide(unit int64) chain {
	if c == nil {
		return nil
	}
	whole := make(chain, len(c))
	for i, p := range c {
		if p.stop >= 0 {
			p.stop /= unit
		}
		whole[i] = component{p.start / unit, p.stop, p.repeat / unit}
	}
	return whole
}

// append prints the chain with numbers of at least width digits, counted in units (1, or 1,000,000 for seconds).
func (c chain) append(b []byte, width int, unit int64) []byte {
	if c == nil {
		return append(b, '*')
	}
	for i, p := range c {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, p.start, width, unit)
		if p.stop >= 0 {
			b = append(b, ".."...)
			b = appendNumber(b, p.stop, width, unit)
		}
		if p.repeat > 0 && (p.stop < 0 || p.repeat != unit) {
			b = append(b, '/')
			b = appendNumber(b, p.repeat, 1, unit)
		}
	}
	return b
}

func appendNumber(b []byte, n int64, width int, unit int64) []byte {
	whole := strconv.FormatInt(n/unit, 10)
	for range width - len(whole) {
		b = append(b, '0')
	}
	b = append(b, whole...)
	if rest := n % unit; rest > 0 {
		fraction := strconv.FormatInt(unit+rest, 10)
		b = append(b, '.')
		b = append(b, fraction[1:]...)
	}
	return b
}
