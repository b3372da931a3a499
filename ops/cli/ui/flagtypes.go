package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/ops/internal/when"
)

// Choice is a flag that has one of a few values.
type Choice struct {
	Value   string
	Allowed []string
}

func (c *Choice) String() string { return c.Value }

// Words are what the Tab key proposes.
func (c *Choice) Words() []string { return c.Allowed }

// Type is what the help text says about the value.
func (c *Choice) Type() string { return strings.Join(c.Allowed, "|") }

// Set takes a value if it is allowed.
func (c *Choice) Set(value string) error {
	if !slices.Contains(c.Allowed, value) {
		return fmt.Errorf("use one of %s", strings.Join(c.Allowed, ", "))
	}
	c.Value = value
	return nil
}

// TimeFlag is a flag that holds a time, as [when.Parse] reads it. "none" is the zero
// time if that is allowed.
type TimeFlag struct {
	Value     time.Time // set by Resolve, before a command begins
	AllowNone bool
	Past      bool // see [when.Clock]

	text string
}

func (f *TimeFlag) String() string { return f.text }

// Type is what the help text says about the value.
func (f *TimeFlag) Type() string { return "time" }

// Set takes a time that Resolve reads.
func (f *TimeFlag) Set(text string) error { f.text = text; return nil }

// Resolve reads the time in the zone that the command line names, which may do so
// after the time.
func (f *TimeFlag) Resolve(now time.Time, zone *time.Location) (err error) {
	if f.Value = (time.Time{}); f.text == "none" && f.AllowNone {
		return nil
	}
	if f.Value, err = when.Parse(f.text, when.Clock{Now: now, Zone: zone, Past: f.Past}); err != nil {
		return fmt.Errorf("%w%s", err, orNone(f.AllowNone))
	}
	if f.Value.Year() < 1970 || f.Value.Year() > 9998 {
		return errors.New("use a time from 1970 on, before 9999")
	}
	return nil
}

func orNone(allowed bool) string {
	if allowed {
		return ", or none"
	}
	return ""
}

// Flag is a flag that holds what Parse reads, whose errors say what to use. It is nil while it
// is not set, and for "none" if that is allowed.
type Flag[T any] struct {
	Value     *T
	Kind      string // what the help text says about the value
	Default   string // what the help text says of it; empty: nothing
	Parse     func(string) (T, error)
	AllowNone bool
	Proposed  []string // by the Tab key
}

func (f *Flag[T]) String() string { return f.Default }

// Words are what the Tab key proposes.
func (f *Flag[T]) Words() []string { return f.Proposed }

// Type is what the help text says about the value.
func (f *Flag[T]) Type() string { return f.Kind }

// Set reads a value.
func (f *Flag[T]) Set(text string) error {
	if text == "none" && f.AllowNone {
		f.Value = nil
		return nil
	}
	value, err := f.Parse(text)
	if err != nil {
		return fmt.Errorf("use %w%s", err, orNone(f.AllowNone))
	}
	f.Value = &value
	return nil
}
