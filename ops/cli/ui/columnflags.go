package ui

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/ops/config"
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
	switch c.Kind {
	case column.JSON:
		f.flags.StringVar(&f.args, name, v.Text, c.Help)
		return func() column.Value { v.Text = f.args; return v }
	case column.Number:
		f.flags.IntVar(&v.Number, name, v.Number, c.Help)
	case column.Truth:
		truth := f.flags.Bool(name, v.Number != 0, c.Help)
		return func() column.Value { return column.Of(*truth) }
	case column.Count:
		n := Flag[int]{Kind: "number", Parse: config.ParseCount, AllowNone: true}
		f.flags.Var(&n, name, c.Help)
		return func() column.Value {
			if v.Null = n.Value == nil; !v.Null {
				v.Number = *n.Value
			}
			return v
		}
	case column.Seconds:
		d := SecondsFlag(none)
		d.Default = v.String()
		f.flags.Var(&d, name, c.Help)
		return func() column.Value {
			if v.Null = d.Value == nil; !v.Null {
				v.Number = int(*d.Value / time.Second)
			}
			return v
		}
	case column.Time:
		at := TimeFlag{AllowNone: none}
		f.flags.Var(&at, name, c.Help)
		return func() column.Value { v.Time = at.Value; return v }
	default:
		if c.Allowed == nil {
			f.flags.StringVar(&v.Text, name, v.Text, c.Help)
			break
		}
		one := Choice{Value: v.Text, Allowed: c.Allowed}
		f.flags.Var(&one, name, c.Help)
		return func() column.Value { v.Text = one.Value; return v }
	}
	return func() column.Value { return v }
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
