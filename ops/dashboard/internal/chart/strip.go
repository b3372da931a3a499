// Package chart draws what happens over time as SVG: strips of cells, lanes of a timeline, and
// bars. A drawing is a text that stands in a page. Shapes have a class for the state and a title
// for those who cannot see the colour; texts are escaped.
package chart

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// Cell is a stretch of time in a strip, or one of several runs.
type Cell struct {
	Class string // good, bad, warn, busy, wait, stop, off or plan; empty: there was nothing
	Title string
	Link  string // where a click leads; empty: nowhere
	Loud  bool   // the keyboard stops here, too
	Hand  bool   // somebody has asked for it: it has a roof
}

// heights of the classes, of 20: a cell is as high as it needs somebody, which also tells
// them apart without colour.
var heights = map[string]int{"bad": 20, "warn": 20, "busy": 13, "wait": 13, "good": 13, "plan": 13, "stop": 13, "off": 5}

// Strip draws cells of equal width beside each other. It is as wide as the place that a page
// gives it. One without a name is there for the eye only.
func Strip(name string, cells []Cell) string {
	c := &canvas{}
	for i, cell := range cells {
		height, known := heights[cell.Class]
		if !known {
			continue
		}
		more := ""
		if cell.Hand {
			height, more = min(height, 14), fmt.Sprintf("M%d 3v-3h8v3z", 10*i+1)
		}
		if cell.Class == "stop" { // a hole
			more += fmt.Sprintf("M%d 17h4v-%dh-4z", 10*i+3, height-6)
		}
		c.linked(cell.Link, cell.Title, fmt.Sprintf(`class=%q d="M%d 20v-%dh8v%dz%s"`, escape(cell.Class), 10*i+1, height, height, more), cell.Loud)
	}
	role := `aria-hidden="true"`
	if name != "" {
		role = `role="` + c.role() + `" aria-label="` + escape(name) + `"`
	}
	return fmt.Sprintf(`<svg class="strip" viewBox="0 0 %d 20" preserveAspectRatio="none" %s>%s</svg>`, 10*len(cells), role, c.text.String())
}

// canvas collects the elements of a drawing.
type canvas struct{ text strings.Builder }

// role is what screen readers take a drawing for. One that has links is a group: what is in a
// picture is a part of it for them, and they do not offer its links.
func (c *canvas) role() string {
	if strings.Contains(c.text.String(), "<a href") {
		return "group"
	}
	return "img"
}

// escape makes a text safe in an element and in an attribute.
func escape(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`<>&"'`, r) }) < 0 {
		return text // most are, and there are thousands of them on a page
	}
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(strings.ToValidUTF8(text, "\uFFFD"))) // a Builder does not fail
	return out.String()
}
