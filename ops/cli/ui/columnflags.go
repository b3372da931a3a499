package ui

import (
	"cmp"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nextrun/nextrun/internal/column"
)

// ColumnFlags are the flags of a command that set the columns of a row.
type ColumnFlags[T any] struct {
	flags *pflag.FlagSet
	set   map[string]func(*T) // by the names of the flags
	args  string              // of the column that is JSON
}

// NewColumnFlags adds a flag for each column that has a help text. Standard has the defaults; nil: what is not given is left as
// it is.
func NewColumnFlags[T any](command *cobra.Command, columns []column.Column[T], standard *T) *ColumnFlags[T] {
	f := &ColumnFlags[T]{flags: command.Flags(), set: map[string]func(*T){}}
	for _, c := range columns {
		name := strings.ReplaceAll(c.Name, "_", "-")
		if c.Help != "" {
			value := f.add(name, c, c.Get(cmp.Or(standard, new(T))))
			f.set[name] = func(row *T) { c.Set(row, value()) }
		}
	}
	return f
}

// add adds the flag of a column, and returns what gives its value.
func (f *ColumnFlags[T]) add(name string, c column.Column[T], v column.Value) func() column.Value {
	none := c.Get(new(T)).Null // NULL is a value
	switch {
	case c.Kind == column.JSON:
		f.flags.StringVar(&f.args, name, v.Text, c.Help)
		return func() column.Value { v.Text = f.args; return v }
	case c.Kind == column.Truth:
		truth := f.flags.Bool(name, v.Number != 0, c.Help)
		return func() column.Value { return column.Of(*truth) }
	case c.Kind == column.Time:
		at := TimeFlag{AllowNone: none}
		f.flags.Var(&at, name, c.Help)
		return func() column.Value { v.Time = at.Value; return v }
	case c.Allowed != nil:
		one := Choice{Value: v.Text, Allowed: c.Allowed}
		f.flags.Var(&one, name, c.Help)
		return func() column.Value { v.Text = one.Value; return v }
	case c.Kind == column.Text:
		f.flags.StringVar(&v.Text, name, v.Text, c.Help)
		return func() column.Value { return v }
	}
	one := Flag[column.Value]{Kind: "number", Default: v.String(), AllowNone: none, Parse: func(text string) (column.Value, error) {
		return column.Parse(c.Kind, text)
	}}
	if c.Kind == column.Seconds {
		one.Kind = "seconds"
	}
	f.flags.Var(&one, name, c.Help)
	return func() column.Value {
		if one.Value == nil {
			return column.Value{Kind: c.Kind, Null: true}
		}
		return *one.Value
	}
}

// ReadArgs reads the column that is JSON from standard input if its flag says so.
func (f *ColumnFlags[T]) ReadArgs(stdin io.Reader) error {
	if f.args != "-" {
		return nil
	}
	text, err := io.ReadAll(stdin)
	f.args = string(text)
	return err
}

// Apply writes the flags that were given into a row, and reports whether there were any.
func (f *ColumnFlags[T]) Apply(row *T) (given bool) {
	for name, set := range f.set {
		if f.flags.Changed(name) {
			given = true
			set(row)
		}
	}
	return given
}
