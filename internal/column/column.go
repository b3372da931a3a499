// Package column describes a column of a table once, for all who read, write, show or
// set it: SQL, JSON, files, flags and pages go through the list of a type's columns, so
// that a new column is a new entry of that list.
package column

import (
	"strconv"
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

// Field says where a row in memory keeps a value. Set ignores that a value is null unless
// the field is a pointer: it becomes zero.
type Field[T any] struct {
	Kind Kind
	Get  func(*T) Value
	Set  func(*T, Value)
}

// TextIn is a text, which is never NULL.
func TextIn[T any, S ~string](at func(*T) *S) Field[T] { return textIn(Text, false, at) }

// TextOrNull is a text; the empty text is NULL.
func TextOrNull[T any, S ~string](at func(*T) *S) Field[T] { return textIn(Text, true, at) }

// JSONIn is a text of the kind JSON.
func JSONIn[T any](at func(*T) *string) Field[T] { return textIn(JSON, false, at) }

func textIn[T any, S ~string](kind Kind, orNull bool, at func(*T) *S) Field[T] {
	return Field[T]{
		kind,
		func(row *T) Value {
			text := string(*at(row))
			return Value{Kind: kind, Null: orNull && text == "", Text: text}
		},
		func(row *T, v Value) { *at(row) = S(v.Text) },
	}
}

// TruthIn is a truth value.
func TruthIn[T any](at func(*T) *bool) Field[T] {
	return Field[T]{
		Truth,
		func(row *T) Value {
			if *at(row) {
				return Value{Kind: Truth, Number: 1}
			}
			return Value{Kind: Truth}
		},
		func(row *T, v Value) { *at(row) = v.Number != 0 },
	}
}

// NumberIn is a whole number, which is never NULL.
func NumberIn[T any](at func(*T) *int) Field[T] { return numberIn(Number, false, at) }

// CountOrNull is a number of the kind Count; 0 is NULL.
func CountOrNull[T any](at func(*T) *int) Field[T] { return numberIn(Count, true, at) }

func numberIn[T any](kind Kind, orNull bool, at func(*T) *int) Field[T] {
	return Field[T]{
		kind,
		func(row *T) Value {
			n := *at(row)
			return Value{Kind: kind, Null: orNull && n == 0, Number: n}
		},
		func(row *T, v Value) { *at(row) = v.Number },
	}
}

// CountPointer is a number of the kind Count; nil is NULL.
func CountPointer[T any](at func(*T) **int) Field[T] {
	return Field[T]{
		Count,
		func(row *T) Value {
			if n := *at(row); n != nil {
				return Value{Kind: Count, Number: *n}
			}
			return Value{Kind: Count, Null: true}
		},
		func(row *T, v Value) {
			if *at(row) = nil; !v.Null {
				*at(row) = &v.Number
			}
		},
	}
}

// SecondsIn is a duration, which is never NULL.
func SecondsIn[T any](at func(*T) *time.Duration) Field[T] { return secondsIn(false, at) }

// SecondsOrNull is a duration; 0 is NULL.
func SecondsOrNull[T any](at func(*T) *time.Duration) Field[T] { return secondsIn(true, at) }

func secondsIn[T any](orNull bool, at func(*T) *time.Duration) Field[T] {
	return Field[T]{
		Seconds,
		func(row *T) Value {
			n := int(*at(row) / time.Second)
			return Value{Kind: Seconds, Null: orNull && n == 0, Number: n}
		},
		func(row *T, v Value) { *at(row) = v.Duration() },
	}
}

// SecondsPointer is a duration; nil is NULL.
func SecondsPointer[T any](at func(*T) **time.Duration) Field[T] {
	return Field[T]{
		Seconds,
		func(row *T) Value {
			if d := *at(row); d != nil {
				return Value{Kind: Seconds, Number: int(*d / time.Second)}
			}
			return Value{Kind: Seconds, Null: true}
		},
		func(row *T, v Value) {
			d := v.Duration()
			if *at(row) = nil; !v.Null {
				*at(row) = &d
			}
		},
	}
}

// Duration is the value of the kind Seconds.
func (v Value) Duration() time.Duration { return time.Duration(v.Number) * time.Second }

// TimeIn is a time; the zero time is NULL.
func TimeIn[T any](at func(*T) *time.Time) Field[T] {
	return Field[T]{
		Time,
		func(row *T) Value {
			t := *at(row)
			if t.IsZero() {
				return Value{Kind: Time, Null: true}
			}
			return Value{Kind: Time, Time: t.UTC().Truncate(time.Microsecond)}
		},
		func(row *T, v Value) { *at(row) = v.Time },
	}
}
