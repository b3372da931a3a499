package ui

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/periodic"
)

// JSONFlag adds --json to a command.
func JSONFlag(command *cobra.Command, asJSON *bool) {
	command.Flags().BoolVar(asJSON, "json", false, "write JSON, for programs")
}

// Cell is a text as it may stand in a table: on one line, - if it is empty.
func Cell(text string) string {
	if text == "" {
		return "-"
	}
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(Printable(text))
}

// Hint repeats the flag --db in the commands of a hint, so that they work where the
// reader is. A URL with a password is not repeated.
func (env *Env) Hint(text string) string {
	db := env.Flags.DB
	if db == "" || userinfo.MatchString(db) || strings.ContainsAny(db, " '\"$\\`") {
		return text
	}
	return strings.ReplaceAll(text, "nextrun ", "nextrun --db "+db+" ")
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

// PrintTable writes a list: the table, or its JSON form, which is a slice.
func (env *Env) PrintTable(t *Table, list any, asJSON bool) error {
	if asJSON {
		return env.PrintJSON(list)
	}
	if len(t.rows) == 1 {
		return env.Printf("%s\n", t.empty)
	}
	device := env.terminal(env.Stdout)
	if env.Flags.Wide {
		device.Width = 0
	}
	return t.write(env.Stdout, device)
}

// PrintFields writes names and values, without those that are empty.
func (env *Env) PrintFields(pairs [][2]string) error {
	device := env.terminal(env.Stdout)
	tabs := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, pair := range pairs {
		if pair[1] == "" {
			continue
		}
		value := Cell(pair[1])
		if pair[0] == "state" {
			value = device.state(value)
		}
		if _, err := fmt.Fprintf(tabs, "%s\t%s\n", pair[0], value); err != nil {
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

// ColumnChanges writes the columns that change of a task, on one line.
func ColumnChanges(c periodic.TaskChange) string {
	var b strings.Builder
	for i, column := range c.Columns {
		separator := ", "
		if i == 0 {
			separator = "  "
		}
		fmt.Fprintf(&b, "%s%s: %q -> %q", separator, column.Column, Shorten(column.From), Shorten(column.To))
	}
	return b.String()
}
