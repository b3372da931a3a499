// Package partition turns the table periodic_tick of PostgreSQL into one that is
// partitioned by due, and back, and looks after the partitions.
//
// # Where is what?
//
//	partition.go   widths, names and bounds of partitions
//	convert.go     the conversion, in either direction
//	describe.go    what is on the table, as SQL that makes it again
//	obstacles.go   what the conversion cannot take along
//	keep.go        partitions of times to come are made, old ones dropped
package partition

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Table is the table that can be partitioned, and Rest its default partition, for
// rows that no other partition takes.
const (
	Table = "periodic_tick"
	Rest  = Table + "_default"
)

// was is the table's name while a conversion reads from it.
const was = Table + "_was"

// Width is how much time a partition spans, in UTC.
type Width string

// The widths.
const (
	Day   Width = "day"
	Week  Width = "week" // from Monday on
	Month Width = "month"
)

// Widths are all widths, in words for people.
var Widths = []string{string(Day), string(Week), string(Month)}

// ahead is how many partitions are made in advance, beside that of now.
var ahead = map[Width]int{Day: 7, Week: 4, Month: 2}

// most is how many partitions a conversion makes for rows that are there. Older rows
// go to the default partition.
const most = 100

// State is how the table is stored.
type State struct {
	Partitioned bool
	Width       Width // of the newest partition
	Partitions  int   // without the default partition
	Owned       bool  // the role may change the table
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// bounds lists the partitions but the default one: its table, the first due, and the
// first due after it.
const bounds = `SELECT c.oid, c.relname,
		(regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''([^'']+)''\)'))[1]::timestamp AS first,
		(regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)'))[1]::timestamp AS next
	FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid
	WHERE inhparent = '` + Table + `'::regclass AND pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT'`

// Look reads how the table is stored. Without the table the state is the zero value.
func Look(ctx context.Context, q querier) (s State, err error) {
	err = q.QueryRowContext(ctx, `SELECT relkind = 'p', pg_has_role(relowner, 'USAGE') FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relname = $1`, Table).Scan(&s.Partitioned, &s.Owned)
	if errors.Is(err, sql.ErrNoRows) {
		return s, nil
	}
	if err != nil || !s.Partitioned {
		return s, wrap("look at the table "+Table, err)
	}
	var days sql.NullFloat64
	err = q.QueryRowContext(ctx, `SELECT count(*) OVER (), extract(epoch FROM next - first) / 86400 FROM (`+bounds+`) AS p
		ORDER BY first DESC LIMIT 1`).Scan(&s.Partitions, &days)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	s.Width = widthOf(days)
	return s, wrap("look at the partitions of "+Table, err)
}

// widthOf is the width nearest to that of a partition, which may be of somebody else's
// making.
func widthOf(days sql.NullFloat64) Width {
	switch {
	case !days.Valid:
		return Week
	case days.Float64 < 4:
		return Day
	case days.Float64 < 18:
		return Week
	}
	return Month
}

// begin is the first moment of the partition of a time.
func (w Width) begin(at time.Time) time.Time {
	at = at.UTC()
	day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	switch w {
	case Month:
		return day.AddDate(0, 0, 1-day.Day())
	case Week:
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	}
	return day
}

// next is the first moment of the n-th partition after the one that begins at first.
func (w Width) next(first time.Time, n int) time.Time {
	switch w {
	case Month:
		return first.AddDate(0, n, 0)
	case Week:
		return first.AddDate(0, 0, 7*n)
	}
	return first.AddDate(0, 0, n)
}

// Span is the time of one partition.
type Span struct{ first, next time.Time }

// name is that of the partition's table.
func (s Span) name() string { return Table + "_" + s.first.Format("20060102") }

// values is the clause of the partition's bounds.
func (s Span) values() string {
	const layout = "2006-01-02 15:04:05"
	return fmt.Sprintf("FOR VALUES FROM ('%s') TO ('%s')", s.first.Format(layout), s.next.Format(layout))
}

// coming are the partitions of now and of the times to come.
func (w Width) coming(now time.Time) (list []Span) {
	for i := range ahead[w] + 1 {
		first := w.next(w.begin(now), i)
		list = append(list, Span{first, w.next(first, 1)})
	}
	return list
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// texts are the rows of a query for one text.
func texts(ctx context.Context, q querier, query string, args ...any) (list []string, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}
