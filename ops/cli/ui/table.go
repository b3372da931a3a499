package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Table is a list for people: aligned columns under a header. On a terminal it
// never wraps.
type Table struct {
	rows  [][]string
	least []string // headers of the columns that may be left out, first of all the first
	ids   []string // headers of the columns with ids, of which the end is enough
	empty string
	wraps bool // the last column goes on below itself instead of being shortened
}

// NewTable returns a table of no rows.
func NewTable(header ...string) *Table { return &Table{rows: [][]string{header}, empty: "none"} }

// Least names columns that a narrow terminal can do without, the least important
// first. The last column goes after them.
func (t *Table) Least(headers ...string) *Table { t.least = headers; return t }

// IDs names columns with ids of jobs or events. Where they do not fit, their ends stand for
// them: unlike the beginnings, they differ.
func (t *Table) IDs(headers ...string) *Table { t.ids = headers; return t }

// IfEmpty says what to write in place of a table without rows.
func (t *Table) IfEmpty(text string) *Table { t.empty = text; return t }

// Wrap makes the last column go on below itself on a narrow terminal: it holds
// sentences, of which no part may be missing.
func (t *Table) Wrap() *Table { t.wraps = true; return t }

// Add adds a row.
func (t *Table) Add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = Cell(fmt.Sprint(c))
	}
	t.rows = append(t.rows, row)
}

// Write writes the whole table, without colours.
func (t *Table) Write(w io.Writer) error { return t.write(w, Terminal{}) }

const (
	columnGap   = 2
	idWidth     = 9       // of an id of which only the end is shown
	columnLeast = 23      // no cell is shortened to less: a time is that long
	columnMost  = 1000    // a wider cell pushes its own row out, not the others
	longText    = 1 << 16 // a text of so many bytes is wider than any column
)

func (t *Table) write(w io.Writer, device Terminal) error {
	columns, widths := t.fit(device.Width)
	var b strings.Builder
	for n, row := range t.rows {
		indent := 0
		for i, c := range columns {
			cell, rest := row[c], ""
			if device.Width > 0 {
				cell = shortenMiddle(cell, widths[i])
				if widths[i] == idWidth && slices.Contains(t.ids, t.rows[0][c]) {
					cell = lastColumns(row[c], idWidth)
					if cell != row[c] {
						cell = "…" + lastColumns(row[c], idWidth-1)
					}
				}
			}
			if t.wraps && c == len(row)-1 && device.Width > 0 {
				cell, rest = wrapped(row[c], widths[i], indent)
			}
			indent += widths[i] + columnGap
			paint := plain
			switch {
			case !device.Color:
			case n == 0:
				paint = bold
			default:
				paint = stateStyles[strings.ToLower(firstWord(row[c]))]
			}
			b.WriteString(paint.paint(cell) + rest)
			if i < len(columns)-1 {
				b.WriteString(strings.Repeat(" ", max(widths[i]-widthOf(cell), 0)+columnGap))
			}
		}
		b.WriteByte('\n')
	}
	if left := t.leftOut(columns); left != "" {
		text := "(without " + left + "; --wide shows all)"
		if device.Color {
			text = dim.paint(text)
		}
		b.WriteString(text + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func firstWord(text string) string { word, _, _ := strings.Cut(text, " "); return word }

// fit chooses columns and their widths, so that a row fits the width of a
// terminal; 0: any row does. It first shortens the widest columns, then leaves out
// the least important ones.
func (t *Table) fit(most int) (columns, widths []int) {
	columns = make([]int, len(t.rows[0]))
	for i := range columns {
		columns[i] = i
	}
	natural := t.natural()
	if whole := columnGap * (len(natural) - 1); most > 0 {
		for _, width := range natural {
			whole += width
		}
		for c, width := range natural {
			if whole > most && slices.Contains(t.ids, t.rows[0][c]) {
				natural[c] = min(width, idWidth)
			}
		}
	}
	if last := len(natural) - 1; t.wraps && most > 0 {
		room := most
		for _, width := range natural[:last] {
			room -= width + columnGap
		}
		natural[last] = min(natural[last], max(room, columnLeast))
	}
	least := t.least
	for {
		widths = make([]int, len(columns))
		total := columnGap * (len(columns) - 1)
		for i, c := range columns {
			widths[i] = natural[c]
			total += natural[c]
		}
		if most <= 0 || shrink(widths, total-most) {
			return columns, widths
		}
		if len(columns) == 1 {
			return columns, []int{most}
		}
		drop := len(columns) - 1
		if len(least) > 0 {
			if at := slices.IndexFunc(columns, func(c int) bool { return t.rows[0][c] == least[0] }); at >= 0 {
				drop = at
			}
			least = least[1:]
		}
		columns = slices.Delete(slices.Clone(columns), drop, drop+1)
	}
}

// natural are the widths of the columns as they are, up to the most.
func (t *Table) natural() []int {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], min(widthOf(cell), columnMost))
		}
	}
	return widths
}

// shrink takes a number of columns away from the widest ones. It reports whether
// that was possible.
func shrink(widths []int, excess int) bool {
	for ; excess > 0; excess-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= columnLeast {
			return false
		}
		widths[widest]--
	}
	return true
}

// leftOut are the names of the columns that are not among those.
func (t *Table) leftOut(columns []int) string {
	var names []string
	for i, name := range t.rows[0] {
		if !slices.Contains(columns, i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// shortenMiddle cuts the middle of a text that is too wide: its beginning and its
// end tell most.
func shortenMiddle(text string, width int) string {
	if widthOf(text) <= width {
		return text
	}
	head := runewidth.Truncate(text[:min(len(text), longText)], (width-1+1)/2, "")
	return head + "…" + lastColumns(text, width-1-runewidth.StringWidth(head))
}

// widthOf is the width of a text, if it is not wider than any column.
func widthOf(text string) int {
	if len(text) > longText {
		return columnMost + 1
	}
	return runewidth.StringWidth(text)
}

// lastColumns is the end of a text that is as wide as that. The text may have megabytes.
func lastColumns(text string, width int) string {
	from := len(text)
	for from > 0 {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		if runewidth.StringWidth(text[from-size:]) > width {
			break
		}
		from -= size
	}
	return text[from:]
}

// wrapped breaks a text between words where it is wider than that. The lines after the
// first one are indented.
func wrapped(text string, width, indent int) (first, rest string) {
	line, lines := "", []string{}
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case runewidth.StringWidth(line)+1+runewidth.StringWidth(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	lines = append(lines, line)
	for _, line := range lines[1:] {
		rest += "\n" + strings.Repeat(" ", indent) + line
	}
	return lines[0], rest
}
