package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"

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
	idWidth     = 9    // of an id of which only the end is shown
	columnLeast = 23   // no cell is shortened to less: a time is that long
	columnMost  = 1000 // a wider cell pushes its own row out, not the others
)

func (t *Table) write(w io.Writer, device Terminal) error {
	columns, widths := t.fit(device.Width)
	var b strings.Builder
	for n, row := range t.rows {
		indent := 0
		for i, c := range columns {
			cell, rest := row[c], ""
			switch {
			case device.Width == 0 || runewidth.StringWidth(cell) <= widths[i]:
			case t.wraps && c == len(row)-1:
				cell, rest = wrapped(cell, widths[i], indent)
			case slices.Contains(t.ids, t.rows[0][c]):
				cell = runewidth.TruncateLeft(cell, runewidth.StringWidth(cell)-widths[i]+1, "…")
			default:
				cell = runewidth.Truncate(cell, widths[i], "…")
			}
			indent += widths[i] + columnGap
			if i < len(columns)-1 {
				cell = runewidth.FillRight(cell, widths[i]) + strings.Repeat(" ", columnGap)
			}
			switch {
			case !device.Color:
			case n == 0:
				cell = bold.paint(cell)
			default:
				cell = device.state(cell)
			}
			b.WriteString(cell + rest)
		}
		b.WriteByte('\n')
	}
	if left := t.leftOut(columns); left != "" {
		b.WriteString("(without " + left + "; --wide shows all)\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func firstWord(text string) string { word, _, _ := strings.Cut(text, " "); return word }

// fit chooses columns and their widths, so that a row fits the width of a
// terminal; 0: any row does. It first shortens the widest columns, then leaves out
// the least important ones.
func (t *Table) fit(most int) (columns, widths []int) {
	natural := t.natural()
	for c := range natural {
		columns = append(columns, c)
	}
	if most <= 0 {
		return columns, natural
	}
	for c, name := range t.rows[0] {
		if total(natural) > most && slices.Contains(t.ids, name) {
			natural[c] = min(natural[c], idWidth)
		}
	}
	if last := len(natural) - 1; t.wraps {
		room := most - total(natural) + natural[last]
		natural[last] = min(natural[last], max(room, columnLeast))
	}
	drop := append(slices.Clone(t.least), t.rows[0][len(natural)-1])
	for {
		widths = nil
		for _, c := range columns {
			widths = append(widths, natural[c])
		}
		if shrink(widths, total(widths)-most) {
			return columns, widths
		}
		if len(columns) == 1 {
			return columns, []int{most}
		}
		at := len(columns) - 1
		if len(drop) > 0 {
			at = max(slices.IndexFunc(columns, func(c int) bool { return t.rows[0][c] == drop[0] }), 0)
			drop = drop[1:]
		}
		columns = slices.Delete(columns, at, at+1)
	}
}

// total is the width of a row.
func total(widths []int) int {
	sum := columnGap * (len(widths) - 1)
	for _, width := range widths {
		sum += width
	}
	return sum
}

// natural are the widths of the columns as they are, up to the most.
func (t *Table) natural() []int {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], min(runewidth.StringWidth(cell), columnMost))
		}
	}
	return widths
}

// shrink takes a number of columns away from the widest ones. It reports whether
// that was possible.
func shrink(widths []int, excess int) bool {
	for ; excess > 0; excess-- {
		widest := slices.Index(widths, slices.Max(widths))
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
