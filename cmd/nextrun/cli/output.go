package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"
)

// jsonFlag adds --json to a command.
func jsonFlag(command *cobra.Command, asJSON *bool) {
	command.Flags().BoolVar(asJSON, "json", false, "write JSON, for programs")
}

// table is a list for people: aligned columns under a header.
type table struct{ rows [][]string }

func newTable(header ...string) *table { return &table{rows: [][]string{header}} }

func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = cell(fmt.Sprint(c))
	}
	t.rows = append(t.rows, row)
}

// cell is a text as it may stand in a table: on one line, - if it is empty.
func cell(text string) string {
	if text == "" {
		return "-"
	}
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(printable(text))
}

// printable replaces what would disturb a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			return '?'
		}
		return r
	}, text)
}

func (t *table) write(w io.Writer) error {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range t.rows {
		if _, err := fmt.Fprintln(tabs, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return tabs.Flush()
}

// print writes a list: the table, or its JSON form, which is a slice.
func (p *program) print(t *table, list any, asJSON bool) error {
	if asJSON {
		return p.printJSON(list)
	}
	if len(t.rows) == 1 {
		return p.printf("none\n")
	}
	return t.write(p.stdout)
}

// printJSON writes a value as indented JSON; a nil slice is an empty list.
func (p *program) printJSON(value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	if string(text) == "null" {
		text = []byte("[]")
	}
	return p.printf("%s\n", text)
}

// printJSONLine writes a value as JSON on one line.
func (p *program) printJSONLine(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return p.printf("%s\n", text)
}

// printFields writes names and values, without those that are empty.
func (p *program) printFields(pairs [][2]string) error {
	tabs := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, pair := range pairs {
		if pair[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(tabs, "%s\t%s\n", pair[0], cell(pair[1])); err != nil {
			return err
		}
	}
	return tabs.Flush()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
