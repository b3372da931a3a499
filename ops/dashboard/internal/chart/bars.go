package chart

import (
	"fmt"
	"slices"
	"time"
)

// Bar is a value in [Bars].
type Bar struct {
	Value float64
	Class string // good, bad, warn, busy, wait, off or plan
	Title string
	Link  string // where a click leads; empty: nowhere
}

// Bars are values beside each other, such as the durations of runs or the ticks of each minute.
type Bars struct {
	Name     string
	Bars     []Bar
	Top      float64 // of the axis; a bar that is longer is drawn with a cut
	Half     string  // what is written at half of Top; empty: nothing
	Whole    string  // and at Top
	Usual    float64 // a line; 0: none
	From, To string  // what is written below the first bar, and below the last
	Least    int     // of so many places; where there are fewer bars, the first places are empty
}

// Draw draws the bars as wide as the place that a page gives them. The texts beside them are
// no part of the picture, so they keep their size.
func (b Bars) Draw() string {
	c := &canvas{}
	places := max(len(b.Bars), b.Least, 1)
	c.grid(places)
	for i, bar := range b.Bars {
		if bar.Value <= 0 && bar.Title == "" {
			continue
		}
		height, x := 0.0, 10*(places-len(b.Bars)+i)+1
		if b.Top > 0 {
			height = 100 * min(bar.Value/b.Top, 1)
		}
		height = max(height, 1.5) // what was quick is there, too
		shape := fmt.Sprintf("M%d 100v-%.1fh8v%.1fz", x, height, height)
		if bar.Class == "bad" { // a foot, so that nobody needs the colour
			shape += fmt.Sprintf("M%d 102h8v5h-8z", x)
		}
		c.linked(bar.Link, bar.Title, fmt.Sprintf(`class=%q d=%q`, escape(bar.Class), shape), false)
		if b.Top > 0 && bar.Value > b.Top {
			fmt.Fprintf(&c.text, `<path class="cut" d="M%d 14l10-6"/>`, x-1)
		}
	}
	if b.Usual > 0 && b.Top > 0 {
		fmt.Fprintf(&c.text, `<path class="usual" d="M0 %.1fh%d"/>`, 100-100*min(b.Usual/b.Top, 1), 10*places)
	}
	return c.withAxes(b, places, b.From, b.To)
}

// grid has the lines behind bars: at the foot, at half and at the top.
func (c *canvas) grid(places int) {
	for _, y := range []int{0, 50, 100} {
		fmt.Fprintf(&c.text, `<path class="grid" d="M0 %dh%d"/>`, y, 10*places)
	}
}

// withAxes is the finished drawing beside its scale, with texts evenly below it.
func (c *canvas) withAxes(b Bars, places int, below ...string) string {
	axis := ""
	for _, text := range below {
		axis += `<span>` + escape(text) + `</span>`
	}
	return fmt.Sprintf(`<div class="bars"><div class="scale"><span>%s</span><span>%s</span><span>0</span></div><svg viewBox="0 0 %d 100" preserveAspectRatio="none" role=%q %s>%s</svg><div class="axis">%s</div></div>`,
		escape(b.Whole), escape(b.Half), 10*places, c.role(), `aria-label="`+escape(b.Name)+`"`, c.text.String(), axis)
}

// linked is a path with a title. It leads somewhere if there is a link, unless it is loud for the mouse only: what
// it leads to is also in a table.
func (c *canvas) linked(link, title, attributes string, loud bool) {
	if title != "" {
		title = `<title>` + escape(title) + `</title>`
	}
	if link == "" {
		c.text.WriteString(`<path ` + attributes + `>` + title + `</path>`)
		return
	}
	tab := ` tabindex="-1"`
	if loud {
		tab = ""
	}
	c.text.WriteString(`<a href="` + escape(link) + `"` + tab + `>` + title + `<path ` + attributes + `/></a>`)
}

// tops are good ends of an axis of time: they and their halves are round.
var tops = []time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond,
	time.Second, 2 * time.Second, 4 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute,
	10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour}

// Durations gives bars whose values are durations in seconds an axis with round numbers, which
// span writes. A few values that are far from all others do not make these invisible: they go beyond it.
func (b Bars) Durations(span func(time.Duration) string) Bars {
	values := []float64{b.Usual}
	for _, bar := range b.Bars {
		values = append(values, bar.Value)
	}
	slices.Sort(values)
	most, usual := values[len(values)-1], values[(len(values)-1)*9/10]
	if usual > 0 && most > farOff*usual {
		most = 2 * usual
	}
	day := tops[len(tops)-1]
	top := day * time.Duration(1+most/day.Seconds())
	for i := len(tops) - 1; i >= 0 && most <= tops[i].Seconds(); i-- {
		top = tops[i]
	}
	b.Top, b.Whole, b.Half = top.Seconds(), span(top), span(top/2)
	return b
}

// farOff is how many times nine of ten values another one is that is drawn with a cut.
const farOff = 10

// Counts gives bars whose values are numbers an axis with round ones.
func (b Bars) Counts() Bars {
	most := 0.0
	for _, bar := range b.Bars {
		most = max(most, bar.Value)
	}
	b.Top = 4
	for i := 0; b.Top < most; i++ { // 10, 20, 40, 100
		b.Top *= []float64{2.5, 2, 2}[i%3]
	}
	b.Whole, b.Half = fmt.Sprintf("%.0f", b.Top), fmt.Sprintf("%.0f", b.Top/2)
	return b
}

// Stacks are numbers beside each other, each made of parts, such as the runs of each half hour by their outcomes.
type Stacks struct {
	Name   string
	Stacks []Stack
	Axis   []string // what is written below, evenly
}

// Stack is a number in [Stacks].
type Stack struct {
	Title string
	Parts []Part // from below
}

// Part is a part of a [Stack].
type Part struct {
	Class string
	Value int
}

// Draw draws the stacks as wide as the place that a page gives them.
func (s Stacks) Draw() string {
	b, c := Bars{Name: s.Name}, &canvas{}
	for _, stack := range s.Stacks {
		sum := 0
		for _, part := range stack.Parts {
			sum += part.Value
		}
		b.Bars = append(b.Bars, Bar{Value: float64(sum)})
	}
	b = b.Counts()
	c.grid(len(s.Stacks))
	for i, stack := range s.Stacks {
		if len(stack.Parts) == 0 {
			continue
		}
		fmt.Fprintf(&c.text, `<g><title>%s</title>`, escape(stack.Title))
		foot := 100.0
		for _, part := range stack.Parts {
			height := max(100*float64(part.Value)/b.Top, 1.5) // one of thousands is there, too
			foot -= height
			fmt.Fprintf(&c.text, `<path class=%q d="M%d %.1fh8v%.1fh-8z"/>`, escape(part.Class), 10*i+1, foot, height)
		}
		c.text.WriteString(`</g>`)
	}
	return c.withAxes(b, len(s.Stacks), s.Axis...)
}
