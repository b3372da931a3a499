package chart

import (
	"fmt"
	"strings"
)

// Lane is what happens along a row of a timeline, in cells of equal width.
type Lane struct {
	Name  string // what it shows, for those who cannot see it
	Cells []Level
	Top   float64 // the level of a full cell
	Floor int     // a bar of one run is not lower, of 20, so that what is short is seen; the more runs, the more it is their density
	Now   float64 // where the present is, in cells; 0 or less: nowhere
}

// Level is a cell of a [Lane].
type Level struct {
	Value float64 `json:"load"`
	Runs  int     `json:"-"`
	Bad   float64 `json:"failed"`                // the part of Value that went wrong
	Class string  `json:"state"`                 // of the rest: good, busy, plan; empty: there is none
	Out   string  `json:"did_not_run,omitempty"` // of ticks that did not run: off or warn, a mark at the upper edge
}

// Draw draws the lane as wide as the place that a page gives it. Neighbours of one class and one
// height are one shape, and all shapes of a class one path, so that a row takes some hundred bytes.
func (l Lane) Draw() string {
	c := &canvas{}
	fmt.Fprintf(&c.text, `<path class="none" d="M0 20v-1h%dv1z"/>`, len(l.Cells))
	for _, class := range []string{"good", "off", "wait", "busy", "plan"} {
		c.merged(class, len(l.Cells), 20, func(i int) int {
			if l.Cells[i].Class != class {
				return 0
			}
			return l.height(l.Cells[i].Value, l.Cells[i].Runs)
		})
	}
	c.merged("bad", len(l.Cells), 20, func(i int) int {
		if bad := l.Cells[i].Bad; bad > 0 {
			return l.height(bad, l.Cells[i].Runs)
		}
		return 0
	})
	for _, class := range []string{"off", "warn"} {
		c.merged(class, len(l.Cells), 5, func(i int) int {
			if l.Cells[i].Out != class {
				return 0
			}
			return 5
		})
	}
	if l.Now > 0 {
		fmt.Fprintf(&c.text, `<path class="now" d="M%.1f 0v20"/>`, l.Now)
	}
	return fmt.Sprintf(`<svg class="strip lane" viewBox="0 0 %d 20" preserveAspectRatio="none" role="img" aria-label="`, len(l.Cells)) +
		escape(l.Name) + `">` + c.text.String() + `</svg>`
}

// height is one of five, so that neighbours become one shape.
func (l Lane) height(value float64, runs int) int {
	floor := l.Floor
	if runs > 2 {
		floor = 0
	}
	if l.Top <= 0 {
		return max(4, floor)
	}
	return max(4*(1+int(4*min(value/l.Top, 1)+.5)), floor)
}

// merged is a path of columns that stand on a line; one of height 0 is left out.
func (c *canvas) merged(class string, columns, foot int, height func(int) int) {
	var path strings.Builder
	for i := 0; i < columns; {
		begin, h := i, height(i)
		for i < columns && height(i) == h {
			i++
		}
		if h > 0 {
			fmt.Fprintf(&path, "M%d %dv-%dh%dv%dz", begin, foot, h, i-begin, h)
		}
	}
	if path.Len() > 0 {
		fmt.Fprintf(&c.text, `<path class="%s" d="%s"/>`, escape(class), path.String())
	}
}
