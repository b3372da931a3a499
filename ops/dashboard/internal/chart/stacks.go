package chart

import "fmt"

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
