package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
)

// columns finds the field of a struct that belongs to a column.
var columns = reflectx.NewMapperFunc("db", sqlx.NameMapper)

// Select scans all rows into dest, a pointer to a slice of structs, whose fields
// are columns, or of single values.
func (tx *Tx) Select(ctx context.Context, dest any, query string, args ...any) error {
	rows, err := tx.tx.QueryContext(ctx, tx.db.words.Rebind(query), args...)
	if err != nil {
		return tx.db.Classify(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	into := &sqlx.Rows{Rows: rows, Mapper: columns}
	slice := reflect.ValueOf(dest).Elem()
	scan := into.StructScan
	if element := slice.Type().Elem(); isValue(element) {
		scan = func(one any) error { return into.Scan(one) }
	}
	for n := slice.Len(); into.Next(); n++ {
		if n == slice.Cap() {
			slice.Grow(max(16, 3*n))
		}
		slice.SetLen(n + 1)
		if err := scan(slice.Index(n).Addr().Interface()); err != nil {
			return fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
	}
	return tx.db.Classify(ctx, rows.Err())
}

// First scans the first row into dest, or returns [ErrNotFound].
func (tx *Tx) First(ctx context.Context, dest any, query string, args ...any) error {
	one := reflect.ValueOf(dest).Elem()
	rows := reflect.New(reflect.SliceOf(one.Type()))
	if err := tx.Select(ctx, rows.Interface(), query, args...); err != nil {
		return err
	}
	if rows.Elem().Len() == 0 {
		return ErrNotFound
	}
	one.Set(rows.Elem().Index(0))
	return nil
}

// isValue reports whether a type is scanned as one column.
func isValue(t reflect.Type) bool {
	return t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[sql.Scanner]())
}

// RowInt is a number of a row that anybody may have written: columns of SQLite
// take any value. What is not a whole number reads as 0, without OK, so that one
// bad row never fails a batch.
type RowInt struct {
	N  int
	OK bool
}

// Scan implements [database/sql.Scanner].
func (i *RowInt) Scan(src any) error {
	var n sql.Null[int]
	if tooLong(src) || n.Scan(src) != nil {
		n = sql.Null[int]{}
	}
	i.N, i.OK = n.V, n.Valid
	return nil
}

// RowBool is a truth value of such a row; anything else reads as false.
type RowBool bool

// Scan implements [database/sql.Scanner].
func (b *RowBool) Scan(src any) error {
	var is sql.NullBool
	*b = RowBool(!tooLong(src) && is.Scan(src) == nil && is.Bool)
	return nil
}

// tooLong reports whether a text or a blob is too long for a number, a time or a truth value. Reading it would only
// fail, with an error that quotes it: a second for 10 MB.
func tooLong(src any) bool {
	v := reflect.ValueOf(src)
	return (v.Kind() == reflect.String || v.Kind() == reflect.Slice) && v.Len() > 100
}

// RowText is a text of such a row; NULL reads as empty.
type RowText string

// Scan implements [database/sql.Scanner].
func (t *RowText) Scan(src any) error {
	var text sql.NullString
	err := text.Scan(src)
	*t = RowText(text.String)
	return err
}

// Set returns the values as the keys of a map.
func Set(values []string) map[string]bool {
	set := make(map[string]bool, len(values))
	for _, v := range values {
		set[v] = true
	}
	return set
}
