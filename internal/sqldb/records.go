package sqldb

import (
	"database/sql/driver"
	"fmt"
)

// Records are rows handed to the database as one parameter, so that a
// statement has the same text and the same number of parameters whatever the
// number of rows. Use SQL as a table expression in FROM and give Param for the
// placeholder it was made for.
type Records struct {
	SQL   string
	Param any
}

// Records makes the records of n rows; row i has the values that values(i)
// returns, in the order of the columns: texts, times, integers, truth values.
// Zero times and nil are NULL. With a value of another type, the statement fails.
func (db *DB) Records(placeholder int, columns []Field, n int, values func(i int) []any) Records {
	r := Records{SQL: db.dialect.Table(placeholder, columns)}
	param, err := db.dialect.Encode(columns, n, values)
	if r.Param = param; err != nil {
		r.Param = unencodable{err}
	}
	return r
}

// unencodable is a parameter with which no statement can run.
type unencodable struct{ err error }

// Value implements [driver.Valuer].
func (u unencodable) Value() (driver.Value, error) { return nil, fmt.Errorf("encode rows: %w", u.err) }

// Texts makes records of one column, value, of texts.
func (db *DB) Texts(placeholder int, values []string) Records {
	return db.Records(placeholder, []Field{Text("value")}, len(values), func(i int) []any { return []any{values[i]} })
}

// Nullable returns nil for an empty text, which records write as NULL.
func Nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// Field is a column of records. Make it with [Text], [Time], [Int], [Bool] or [Row].
type Field struct {
	Name string
	Kind FieldKind
}

// FieldKind is a type of columns, by its name in PostgreSQL.
type FieldKind string

// The types of columns.
const (
	FieldText FieldKind = "text"
	FieldTime FieldKind = "timestamp"
	FieldInt  FieldKind = "bigint"
	FieldBool FieldKind = "boolean"
	FieldRow  FieldKind = "tid"
)

// Text is a column of texts.
func Text(name string) Field { return Field{name, FieldText} }

// Time is a column of times.
func Time(name string) Field { return Field{name, FieldTime} }

// Int is a column of whole numbers.
func Int(name string) Field { return Field{name, FieldInt} }

// Bool is a column of truth values.
func Bool(name string) Field { return Field{name, FieldBool} }

// Row is a column of places of rows (PostgreSQL), which are texts to Go.
func Row(name string) Field { return Field{name, FieldRow} }
