package elapse

import (
	"cmp"
	"slices"
	"strconv"
)

// Component is one item of a list: a value, a range (stop is not negative), or a repetition up to
// the end of the field. A range has a repetition too.
type Component struct {
	Start, Stop, Repeat int64 // Stop: -1 without a range; Repeat: 0 for a single value
}

// One returns the component of a single value.
func One(value int64) Component { return Component{value, -1, 0} }

// Repeat returns a repetition that goes on to the end of the field.
func Repeat(start, repeat int64) Component { return Component{start, -1, repeat} }

// Chain is a list of components in normal form: sorted, without doubles. A nil chain is `*`.
type Chain []Component

// Reduce lets each range end with a member, and turns ranges of one member into values.
func (c Chain) Reduce() {
	for i := range c {
		if p := &c[i]; p.Stop >= p.Start {
			p.Stop -= (p.Stop - p.Start) % p.Repeat
			if p.Stop == p.Start {
				p.Stop, p.Repeat = -1, 0
			}
		}
	}
}

// Sorted brings reduced components into the order in which systemd prints them.
func (c Chain) Sorted() Chain {
	if len(c) < 2 {
		return c
	}
	slices.SortFunc(c, func(a, b Component) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Stop, b.Stop), cmp.Compare(a.Repeat, b.Repeat))
	})
	return slices.Compact(c)
}

// Set returns the members up to high as a bit set; all of low to high for a nil chain.
func (c Chain) Set(low, high int) uint64 {
	if c == nil {
		return BitRange(low, high)
	}
	var set uint64
	for _, p := range c {
		for v := p.Start; v <= p.end(int64(high)); v += p.Repeat {
			set |= 1 << uint(v)
			if p.Repeat == 0 {
				break
			}
		}
	}
	return set
}

// end returns the last value that a component can reach in a field that ends with high.
func (p Component) end(high int64) int64 {
	switch {
	case p.Repeat == 0:
		return p.Start
	case p.Stop >= 0:
		return min(p.Stop, high)
	}
	return high
}

// Has reports whether v is a member.
func (c Chain) Has(v int64) bool {
	n, ok := c.next(v, v)
	return ok && n == v
}

// next returns the smallest member from v on, in a field that ends with high.
func (c Chain) next(v, high int64) (best int64, ok bool) {
	for _, p := range c {
		n := p.Start
		if v > n && p.Repeat > 0 {
			n += (v - n + p.Repeat - 1) / p.Repeat * p.Repeat
		}
		if n >= v && n <= p.end(high) && (!ok || n < best) {
			best, ok = n, true
		}
	}
	return best, ok
}

// prev returns the largest member from 0 to v, in a field that ends with high.
func (c Chain) prev(v, high int64) (best int64, ok bool) {
	for _, p := range c {
		n := min(v, p.end(high))
		if n < p.Start {
			continue
		}
		if p.Repeat > 0 {
			n -= (n - p.Start) % p.Repeat
		} else {
			n = p.Start
		}
		if !ok || n > best {
			best, ok = n, true
		}
	}
	return best, ok
}

// Whole reports whether all members are multiples of unit.
func (c Chain) Whole(unit int64) bool {
	for _, p := range c {
		if p.Start%unit != 0 || p.Repeat%unit != 0 {
			return false
		}
	}
	return true
}

// Divide returns the chain in a unit of which all members are multiples.
func (c Chain) Divide(unit int64) Chain {
	if c == nil {
		return nil
	}
	whole := make(Chain, len(c))
	for i, p := range c {
		if p.Stop >= 0 {
			p.Stop /= unit
		}
		whole[i] = Component{p.Start / unit, p.Stop, p.Repeat / unit}
	}
	return whole
}

// Append prints the chain with numbers of at least width digits, counted in units (1, or 1,000,000
// for seconds).
func (c Chain) Append(b []byte, width int, unit int64) []byte {
	if c == nil {
		return append(b, '*')
	}
	for i, p := range c {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendNumber(b, p.Start, width, unit)
		if p.Stop >= 0 {
			b = append(b, ".."...)
			b = AppendNumber(b, p.Stop, width, unit)
		}
		if p.Repeat > 0 && (p.Stop < 0 || p.Repeat != unit) {
			b = append(b, '/')
			b = AppendNumber(b, p.Repeat, 1, unit)
		}
	}
	return b
}

// AppendNumber prints a number of at least width digits, counted in units.
func AppendNumber(b []byte, n int64, width int, unit int64) []byte {
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
