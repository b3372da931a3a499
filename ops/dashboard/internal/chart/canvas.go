package chart

import (
	"encoding/xml"
	"strings"
)

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
