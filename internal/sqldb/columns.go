package sqldb

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/nextrun/nextrun/internal/column"
)

// Rows reads the rows of a query that yields these columns.
func Rows[T any](ctx context.Context, tx *Tx, columns []column.Column[T], query string, args ...any) (list []T, err error) {
	cells, into := make([]cell, len(columns)), make([]any, len(columns))
	for i, c := range columns {
		cells[i].Kind, into[i] = c.Kind, &cells[i]
	}
	rows, err := tx.tx.QueryContext(ctx, tx.db.words.Rebind(query), args...)
	if err != nil {
		return nil, tx.db.Classify(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		if len(list) == cap(list) {
			list = slices.Grow(list, max(16, 3*len(list)))
		}
		list = append(list, *new(T))
		for i, c := range columns {
			c.Set(&list[len(list)-1], column.Value(cells[i]))
		}
	}
	return list, tx.db.Classify(ctx, rows.Err())
}

// Fields are the columns as columns of [Records], which take what [column.Value.Any] returns.
func Fields[T any](columns []column.Column[T]) []Field {
	kinds := map[column.Kind]FieldKind{column.Text: FieldText, column.JSON: FieldText, column.Truth: FieldBool, column.Time: FieldTime}
	fields := make([]Field, len(columns))
	for i, c := range columns {
		fields[i] = Field{c.InTable(), cmp.Or(kinds[c.Kind], FieldInt)}
	}
	return fields
}

// Param is a value of a column as a parameter of a statement.
func Param(v column.Value) any {
	if v.Kind == column.Time {
		return Timestamp(v.Time)
	}
	return v.Any()
}

// cell takes a value of a row. Tables that were there before nextrun may hold NULL, and
// SQLite any value, where there should be none: such a value reads as zero, so that one
// odd row never fails a batch.
type cell column.Value

// Scan implements [database/sql.Scanner].
func (c *cell) Scan(src any) (err error) {
	*c = cell{Kind: c.Kind}
	switch c.Kind {
	case column.Text, column.JSON:
		var text RowText
		err = text.Scan(src)
		c.Text = string(text)
	case column.Time:
		var at RowTime
		err = at.Scan(src)
		c.Time = at.Time()
	case column.Truth:
		var truth RowBool
		err = truth.Scan(src)
		*c = cell(column.Of(bool(truth)))
	default:
		var n RowInt
		err = n.Scan(src)
		c.Number, c.Null = n.N, !n.OK
	}
	return err
}
