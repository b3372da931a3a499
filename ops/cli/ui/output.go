package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/text"
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

// Hint repeats in the commands of a hint which database the reader has named by flags, and the configuration where one is
// needed, so that they work where the reader is. A URL with a password is not repeated.
func (env *Env) Hint(hint string) string {
	command, f := "nextrun ", env.Flags
	if f.Config != "" {
		hint = strings.ReplaceAll(hint, "--config FILE", "--config "+text.Word(f.Config))
	}
	for _, flag := range [][2]string{{"--db", f.DB}, {"--db-file", f.DBFile}, {"--schema", f.Schema}} {
		if value := flag[1]; value != "" && !userinfo.MatchString(value) && !secretParameter.MatchString(value) {
			command += flag[0] + " " + text.Word(value) + " "
		}
	}
	return strings.ReplaceAll(hint, "nextrun ", command)
}

// secretParameter finds a parameter of a URL whose name says that it may be a password.
var secretParameter = regexp.MustCompile(`(?i)[?&][^=&]*(pas|pwd|secret)[^=&]*=`)

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
	if t.Empty() {
		return env.Printf("%s\n", t.empty)
	}
	device := env.terminal(env.Stdout)
	if env.Flags.Wide {
		device.Width = 0
	}
	return t.write(env.Stdout, device)
}

// PrintProse writes a paragraph after a mark, broken between words at the width of the
// terminal. A command at its end, which begins with nextrun, stays in one piece, so that it
// can be copied.
func (env *Env) PrintProse(mark, text string) error {
	text = Cell(text) // a row's text cannot look like a line of ours
	if env.fits(len(mark), text) || strings.HasPrefix(text, "nextrun ") {
		return env.Printf("%s%s\n", mark, text)
	}
	command := ""
	if at := strings.LastIndex(text, ": nextrun "); at >= 0 {
		text, command = text[:at+1], "\n"+strings.Repeat(" ", len(mark))+text[at+2:]
	}
	return env.Printf("%s%s%s\n", mark, wrapped(text, env.Width()-len(mark), len(mark)), command)
}

// fits reports whether a text needs no line breaks after an indentation: the terminal is wide enough, or too narrow for them.
func (env *Env) fits(indent int, text string) bool {
	width := env.Width() - indent
	return width < 20 || env.Flags.Wide || runewidth.StringWidth(text) <= width
}

// PrintFields writes names and values, without those that are empty. The value of why is
// broken at the width of the terminal.
func (env *Env) PrintFields(pairs [][2]string) error {
	pairs = slices.DeleteFunc(pairs, func(pair [2]string) bool { return pair[1] == "" })
	labels := 0
	for _, pair := range pairs {
		labels = max(labels, len(pair[0])+columnGap)
	}
	device := env.terminal(env.Stdout)
	for _, pair := range pairs {
		value := Cell(pair[1])
		switch {
		case pair[0] == "state":
			value = device.state(value)
		case pair[0] == "why" && !env.fits(labels, value):
			value = wrapped(value, device.Width-labels, labels)
		}
		if _, err := fmt.Fprintf(env.Stdout, "%-*s%s\n", labels, pair[0], value); err != nil {
			return err
		}
	}
	return nil
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
	var list []string
	for _, column := range c.Columns {
		list = append(list, fmt.Sprintf("%s: %q -> %q", column.Column, Shorten(column.From), Shorten(column.To)))
	}
	return strings.Repeat("  ", min(len(list), 1)) + strings.Join(list, ", ")
}

// Counted says how many there are of something: 1 job, 2 jobs.
func Counted(n any, word string) string {
	if fmt.Sprint(n) != "1" {
		word += "s"
	}
	return fmt.Sprint(n, " ", word)
}
