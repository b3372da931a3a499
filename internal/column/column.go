// Package column describes a column of a table once, for all who read, write, show or
// set it: SQL, JSON, files, flags and pages go through the list of a type's columns, so
// that a new column is a new entry of that list.
package column

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is the type of a column's values.
type Kind int

// The kinds.
const (
	Text    Kind = iota
	JSON         // a text that is JSON by convention; it may be large, and may hold secrets
	Truth        //
	Number       // any whole number
	Count        // a whole number from 0 on
	Seconds      // a duration of whole seconds
	Time         //
)

// Value is a value of a column. Values of the same column can be compared with ==.
type Value struct {
	Kind   Kind
	Null   bool      // there is none; the fields below are zero
	Text   string    // of Text and JSON
	Number int       // of Number, Count and Seconds; of Truth 0 or 1
	Time   time.Time // of Time, in UTC with microseconds
}

// String is the value as a text, in the form that files of tasks have. Null is empty.
func (v Value) String() string {
	switch {
	case v.Null:
		return ""
	case v.Kind == Truth:
		return strconv.FormatBool(v.Number != 0)
	case v.Kind == Time:
		return v.Time.Format(time.RFC3339Nano)
	case v.Kind == Text, v.Kind == JSON:
		return v.Text
	}
	return strconv.Itoa(v.Number)
}

// Any is the value as encoding/json and database/sql take it: nil, a string, a bool, an
// int or a time.
func (v Value) Any() any {
	switch {
	case v.Null:
		return nil
	case v.Kind == Truth:
		return v.Number != 0
	case v.Kind == Time:
		return v.Time
	case v.Kind == Text, v.Kind == JSON:
		return v.Text
	}
	return v.Number
}

// Of is a value of the kind Truth.
func Of(truth bool) Value {
	v := Value{Kind: Truth}
	if truth {
		v.Number = 1
	}
	return v
}

// Duration is the value of the kind Seconds.
func (v Value) Duration() time.Duration { return time.Duration(v.Number) * time.Second }

// Column is a column of the table whose rows are T.
type Column[T any] struct {
	Name string // in files, JSON and messages; flags have it with "-" for "_"
	Row  string // in the table; empty: Name
	Field[T]
	Allowed []string // the values that there are; nil: any
	Help    string   // about the flag that sets it; empty: there is none
	User    bool     // people own it, and may change it
	Job     bool     // the jobs of a task get it when they are submitted
}

// InTable is the name of the column in the table.
func (c Column[T]) InTable() string {
	if c.Row != "" {
		return c.Row
	}
	return c.Name
}

// Names are the names of columns in the table, each after a prefix such as "t.".
func Names[T any](prefix string, columns []Column[T]) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = prefix + c.InTable()
	}
	return strings.Join(list, ", ")
}

// OfUsers are the columns that people own.
func OfUsers[T any](columns []Column[T]) []Column[T] {
	return slices.DeleteFunc(slices.Clone(columns), func(c Column[T]) bool { return !c.User })
}

// Without are the columns that do not have these names.
func Without[T any](columns []Column[T], names ...string) []Column[T] {
	return slices.DeleteFunc(slices.Clone(columns), func(c Column[T]) bool { return slices.Contains(names, c.Name) })
}
