package ui

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ListFlags are the flags of a command that lists rows.
type ListFlags struct {
	JSON         bool
	most         Flag[int]
	limit        int
	since, until TimeFlag
}

// Register adds --json and --limit to a command that lists all by default.
func (f *ListFlags) Register(command *cobra.Command) {
	f.most = Flag[int]{Kind: "int", Parse: func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			err = errors.New("a whole number from 1 on")
		}
		return n, err
	}}
	command.Flags().VarP(&f.most, "limit", "n", "maximum number (default all)")
	JSONFlag(command, &f.JSON)
}

// RegisterLatest adds --json, --limit with a default, --since and --until to a command that
// lists the latest of what was made over time, such as "jobs submitted".
func (f *ListFlags) RegisterLatest(command *cobra.Command, listed string, limit int) {
	f.since.Past, f.until.Past = true, true
	flags := command.Flags()
	flags.Var(&f.since, "since", "only "+listed+" at this time or later, such as 7d, yesterday or 2026-03-28")
	flags.Var(&f.until, "until", "only "+listed+" before this time")
	flags.IntVarP(&f.limit, "limit", "n", limit, "maximum number")
	JSONFlag(command, &f.JSON)
}

// Bounds sets the flags of [ListFlags.RegisterLatest] in a filter; a time without a bound is zero.
func (f *ListFlags) Bounds(since, until *time.Time, limit *int) error {
	*since, *until, *limit = f.since.Value, f.until.Value, f.limit
	switch {
	case f.limit < 1:
		return Usagef("-n is %d; use 1 or more", f.limit)
	case !since.IsZero() && !until.IsZero() && !until.After(*since):
		return Usagef("--until %s is not later than --since %s; an age such as 2h counts back from now", f.until.text, f.since.text)
	}
	return nil
}

// IfNone is what a list says in place of no rows: how to get the first one, or, if a flag of the
// command chose some of the rows, that none is of that kind.
func IfNone(command *cobra.Command, first string) string {
	command.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "limit" && f.Name != "json" {
			first = "none of that kind"
		}
	})
	return first
}

// PrintList writes rows as the flags say: in a table, or as JSON. Row returns the JSON of a row
// and its cells.
func PrintList[T any](env *Env, f *ListFlags, t *Table, rows []T, row func(*T) (object any, cells []any)) error {
	if f.most.Value != nil {
		rows = rows[:min(len(rows), *f.most.Value)]
	}
	objects := make([]any, len(rows))
	for i := range rows {
		object, cells := row(&rows[i])
		objects[i] = object
		t.Add(cells...)
	}
	return env.PrintTable(t, objects, f.JSON)
}
