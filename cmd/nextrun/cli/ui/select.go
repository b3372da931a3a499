package ui

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// PeriodFlags are --since and --until of a list.
type PeriodFlags struct{ since, until TimeFlag }

// Register adds the flags to a command that lists something, such as "jobs submitted".
func (f *PeriodFlags) Register(command *cobra.Command, listed string) {
	f.since.Past, f.until.Past = true, true
	flags := command.Flags()
	flags.Var(&f.since, "since", "only "+listed+" at this time or later, such as 7d, yesterday or 2026-03-28")
	flags.Var(&f.until, "until", "only "+listed+" before this time")
}

// Bounds are the times, zero ones where there is no bound.
func (f *PeriodFlags) Bounds() (since, until time.Time, err error) {
	since, until = f.since.Value, f.until.Value
	if !since.IsZero() && !until.IsZero() && !until.After(since) {
		return since, until, Usagef("--until %s is not later than --since %s; an age such as 2h counts back from now", f.until.text, f.since.text)
	}
	return since, until, nil
}

// MostFlag is --limit of a list that has all its rows by default.
type MostFlag int

// LimitFlag adds --limit to a command that lists all by default.
func LimitFlag(command *cobra.Command, most *MostFlag) {
	command.Flags().VarP(most, "limit", "n", "maximum number (default all)")
}

func (f *MostFlag) String() string { return "" }

// Type is what the help text says about the value.
func (f *MostFlag) Type() string { return "int" }

// Set reads a number.
func (f *MostFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("use a whole number from 1 on")
	}
	*f = MostFlag(n)
	return nil
}

// First returns the first elements of a list, as many as the flag says.
func First[T any](list []T, most MostFlag) []T {
	if most == 0 {
		return list
	}
	return list[:min(len(list), int(most))]
}
