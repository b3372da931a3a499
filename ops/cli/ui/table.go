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
		row[i] = Cell(Shorten(fmt.Sprint(c)))
	}
	t.rows = append(t.rows, row)
}

const (
	columnGap   = 2
	idWidth     = 9  // of an id of which only the end is shown
	columnLeast = 23 // no cell is shortened to less: a time is that long
)

// Empty reports whether there are no rows.
func (t *Table) Empty() bool { return len(t.rows) == 1 }

func (t *Table) write(w io.Writer, device Terminal) error {
	columns, widths := t.fit(device.Width)
	var b strings.Builder
	for n, row := range t.rows {
		indent := 0
		for i, c := range columns {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", columnGap))
			}
			cell := row[c]
			switch {
			case runewidth.StringWidth(cell) <= widths[c]:
			case t.wraps && c == len(row)-1:
				cell = wrapped(cell, widths[c], indent)
			case slices.Contains(t.ids, t.rows[0][c]):
				cell = runewidth.TruncateLeft(cell, runewidth.StringWidth(cell)-widths[c]+1, "…")
			default:
				cell = runewidth.Truncate(cell, widths[c], "…")
			}
			if i < len(columns)-1 {
				cell = runewidth.FillRight(cell, widths[c])
			}
			if n == 0 {
				cell = device.paint(bold, cell)
			} else {
				cell = device.state(cell)
			}
			b.WriteString(cell)
			indent += widths[c] + columnGap
		}
		b.WriteByte('\n')
	}
	if left := t.leftOut(columns); left != "" {
		b.WriteString("(without " + left + "; --wide shows all)\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fit chooses columns, and widths of all, so that a row fits the width of a terminal; 0: any row does. It leaves out the
// least important columns, then shortens the widest ones.
func (t *Table) fit(most int) (columns, widths []int) {
	header, least := t.rows[0], t.least
	widths = make([]int, len(header))
	for c := range header {
		columns = append(columns, c)
		for _, row := range t.rows {
			widths[c] = max(widths[c], runewidth.StringWidth(row[c]))
		}
	}
	if most <= 0 {
		return columns, widths
	}
	for c, name := range header {
		if slices.Contains(t.ids, name) && total(columns, widths) > most {
			widths[c] = min(widths[c], idWidth)
		}
	}
	narrow := slices.Clone(widths)
	for c := range narrow {
		narrow[c] = min(narrow[c], columnLeast)
	}
	for len(columns) > 1 && total(columns, narrow) > most {
		at := len(columns) - 1
		if len(least) > 0 {
			at = slices.Index(columns, slices.Index(header, least[0]))
			least = least[1:]
		}
		columns = slices.Delete(columns, at, at+1)
	}
	for total(columns, widths) > most {
		widest := slices.MaxFunc(columns, func(a, b int) int { return widths[a] - widths[b] })
		widths[widest]--
	}
	return columns, widths
}

// total is the width of a row of those columns.
func total(columns, widths []int) int {
	sum := columnGap * (len(columns) - 1)
	for _, c := range columns {
		sum += widths[c]
	}
	return sum
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
func wrapped(text string, width, indent int) string {
	var b strings.Builder
	at := 0
	for _, word := range strings.Fields(text) {
		wide := runewidth.StringWidth(word)
		switch {
		case at == 0:
		case at+1+wide <= width:
			b.WriteByte(' ')
			at++
		default:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = 0
		}
		b.WriteString(word)
		at += wide
	}
	return b.String()
}
