package ui

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"
)

// JSONFlag adds --json to a command.
func JSONFlag(command *cobra.Command, asJSON *bool) {
	command.Flags().BoolVar(asJSON, "json", false, "write JSON, for programs")
}

// Table is a list for people: aligned columns under a header.
type Table struct{ rows [][]string }

// NewTable returns a table of no rows.
func NewTable(header ...string) *Table { return &Table{rows: [][]string{header}} }

// Add adds a row.
func (t *Table) Add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = Cell(fmt.Sprint(c))
	}
	t.rows = append(t.rows, row)
}

// Cell is a text as it may stand in a table: on one line, - if it is empty.
func Cell(text string) string {
	if text == "" {
		return "-"
	}
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(Printable(text))
}

// Printable replaces what would disturb a terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			return '?'
		}
		return r
	}, text)
}

// Write writes the table.
func (t *Table) Write(w io.Writer) error {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range t.rows {
		if _, err := fmt.Fprintln(tabs, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return tabs.Flush()
}

// PrintTable writes a list: the table, or its JSON form, which is a slice.
func (env *Env) PrintTable(t *Table, list any, asJSON bool) error {
	if asJSON {
		return env.PrintJSON(list)
	}
	if len(t.rows) == 1 {
		return env.Printf("none\n")
	}
	return t.Write(env.Stdout)
}

// PrintFields writes names and values, without those that are empty.
func (env *Env) PrintFields(pairs [][2]string) error {
	tabs := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, pair := range pairs {
		if pair[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(tabs, "%s\t%s\n", pair[0], Cell(pair[1])); err != nil {
			return err
		}
	}
	return tabs.Flush()
}

// YesNo writes a bool for people.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Shorten keeps what is long from filling the screen.
func Shorten(text string) string {
	const most = 1000
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "... (--json shows all)"
	}
	return text
}

// FirstLine is the first line of a text, shortened to 80 characters.
func FirstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	const most = 80
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	if rest != "" {
		return line + " ..."
	}
	return line
}
