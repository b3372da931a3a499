// Command picture draws what a program has written on a terminal, as SVG with text, for
// light and dark pages:
//
//	go run ./scripts/picture "title" < recording > picture.svg
//
// It knows lines, and the colours of nextrun.
package main

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The size of a character and the margin, in pixels. Columns is the terminal's width.
const (
	columns    = 80
	charWidth  = 8
	lineHeight = 18
	margin     = 14
)

const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">
<title>%s</title>
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; white-space: pre; }
rect { fill: #f6f8fa; stroke: #d1d9e0; }
.c1 { font-weight: bold; } .c2 { fill: #656d76; } .c31 { fill: #cf222e; } .c38-5-28 { fill: #116329; } .c38-5-130 { fill: #7d4e00; } .c38-5-31 { fill: #1b6f77; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } rect { fill: #0d1117; stroke: #3d444d; }
.c2 { fill: #9198a1; } .c31 { fill: #ff7b72; } .c38-5-28 { fill: #3fb950; } .c38-5-130 { fill: #d29922; } .c38-5-31 { fill: #39c5cf; }
}
</style>
<rect x="0.5" y="0.5" width="%d" height="%d" rx="6"/>
`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, `usage: picture "title" < recording > picture.svg`)
		os.Exit(2)
	}
	lines, err := read(os.Stdin)
	if err == nil {
		_, err = io.WriteString(os.Stdout, draw(os.Args[1], lines))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// span is text in one colour, the parameters of SGR (ECMA-48, 8.3.117), or none.
type span struct{ colour, text string }

// sgr finds the sequences that set colours.
var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// read splits a recording into lines of spans, broken where a terminal breaks them.
func read(r io.Reader) (lines [][]span, err error) {
	in := bufio.NewScanner(r)
	for in.Scan() {
		var line []span
		colour, width := "", 0
		add := func(text string) {
			for text != "" {
				if width == columns {
					lines, line, width = append(lines, line), nil, 0
				}
				part := text
				if room := columns - width; utf8.RuneCountInString(part) > room {
					part = string([]rune(part)[:room])
				}
				line, width, text = append(line, span{colour, part}), width+utf8.RuneCountInString(part), text[len(part):]
			}
		}
		text := strings.TrimRight(strings.ReplaceAll(in.Text(), "^C", ""), "\r")
		for {
			at := sgr.FindStringSubmatchIndex(text)
			if at == nil {
				break
			}
			add(text[:at[0]])
			if colour = text[at[2]:at[3]]; colour == "0" {
				colour = ""
			}
			text = text[at[1]:]
		}
		add(text)
		lines = append(lines, line)
	}
	return lines, in.Err()
}

// draw makes a picture of lines. Each line says how wide it is, so that columns are
// aligned whatever font there is.
func draw(title string, lines [][]span) string {
	width, height := columns*charWidth+2*margin, len(lines)*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, head, width, height, width, height, html.EscapeString(title), width-1, height-1)
	for i, line := range lines {
		column := 0
		for _, s := range line {
			n := utf8.RuneCountInString(s.text)
			if strings.TrimSpace(s.text) != "" {
				class := ""
				if s.colour != "" {
					class = ` class="c` + strings.ReplaceAll(s.colour, ";", "-") + `"`
				}
				fmt.Fprintf(&b, `<text x="%d" y="%d" textLength="%d" xml:space="preserve"%s>%s</text>`+"\n",
					margin+column*charWidth, margin+i*lineHeight+13, n*charWidth, class, html.EscapeString(s.text))
			}
			column += n
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}
