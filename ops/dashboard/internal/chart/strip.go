package chart

import "fmt"

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
// gives it.
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
		attributes := fmt.Sprintf(`class=%q d="M%d 20v-%dh8v%dz%s"`, escape(cell.Class), 10*i+1, height, height, more)
		if cell.Loud && cell.Link != "" {
			c.text.WriteString(`<a href="` + escape(cell.Link) + `"><title>` + escape(cell.Title) + `</title><path ` + attributes + `/></a>`)
		} else {
			c.linked(cell.Link, cell.Title, attributes)
		}
	}
	return c.strip(len(cells), name)
}

// strip is the finished strip. One without a name is there for the eye only.
func (c *canvas) strip(cells int, name string) string {
	role := `aria-hidden="true"`
	if name != "" {
		role = `role="` + c.role() + `" aria-label="` + escape(name) + `"`
	}
	return fmt.Sprintf(`<svg class="strip" viewBox="0 0 %d 20" preserveAspectRatio="none" %s>%s</svg>`, 10*cells, role, c.text.String())
}
