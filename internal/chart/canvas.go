package chart

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// canvas collects the elements of a drawing.
type canvas struct{ text strings.Builder }

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(&c.text, format+"\n", args...) }

// box is a rectangle with a title.
func (c *canvas) box(x, y, width, height float64, class, title string) {
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="%s"><title>%s</title></rect>`,
		x, y, width, height, escape(class), escape(title))
}

func (c *canvas) label(x, y float64, anchor, text string) {
	c.add(`<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, escape(text))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2, escape(class))
}

// role is what screen readers take a drawing for. One that has links is a group: what is in a
// picture is a part of it for them, and they do not offer its links.
func (c *canvas) role() string {
	if strings.Contains(c.text.String(), "<a href") {
		return "group"
	}
	return "img"
}

// drawing is the finished picture; name says what it shows.
func (c *canvas) drawing(width, height float64, name string) string {
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="`, width, height, width, height)
	return head + c.role() + `" aria-label="` + escape(name) + "\">\n" + c.text.String() + "</svg>\n"
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

// Style has the colours of the classes, for light and dark surroundings. A page has it in
// its style sheet.
const Style = `.success{fill:#2da44e}.failed{fill:#cf222e}.running{fill:#0969da}.planned{fill:#8c959f}.other{fill:#bf8700}
.grid{stroke:#d0d7de}.now{stroke:#cf222e;stroke-dasharray:3 2}.change{stroke:#8250df;stroke-dasharray:1 3}
.h0{fill:#ebedf0}.h1{fill:#9be9a8}.h2{fill:#40c463}.h3{fill:#30a14e}.h4{fill:#216e39}
.overlap{fill:url(#hatch)}.hatch{stroke:#1b1f24;stroke-width:1.5}.dot{stroke:none}
text{fill:#57606a;font:11px system-ui,sans-serif}
@media (prefers-color-scheme:dark){.grid{stroke:#30363d}text{fill:#9198a1}.h0{fill:#161b22}.h1{fill:#0e4429}.h2{fill:#006d32}.h3{fill:#26a641}.h4{fill:#39d353}.hatch{stroke:#e6edf3}}
`

// File is a drawing that stands alone: with the colours in it.
func File(drawing string) string {
	head, rest, found := strings.Cut(drawing, ">\n")
	if !found {
		return drawing
	}
	return head + ">\n<style>" + Style + "</style>\n" + rest
}
