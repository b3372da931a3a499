package foreign

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// result is what a statement returned. Statements may return their columns in any
// order, and some of them.
type result struct {
	columns []string // in lower case
	list    []row
}

// row is a row by the names of its columns.
type row map[string]any

func readRows(rows *sql.Rows) (result, error) {
	names, err := rows.Columns()
	if err != nil {
		return result{}, err
	}
	for i, name := range names {
		names[i] = strings.ToLower(name)
	}
	found := result{columns: names}
	for rows.Next() {
		values := make([]any, len(names))
		into := make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return result{}, err
		}
		one := make(row, len(names))
		for i, name := range names {
			one[name] = values[i]
		}
		found.list = append(found.list, one)
	}
	return found, rows.Err()
}

// text is the value of a column as text; empty for NULL, or if there is no such
// column.
func (r row) text(column string) string {
	switch v := r[column].(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// truth is the value of a column as a truth value; false for NULL.
func (r row) truth(column string) bool {
	switch v := r[column].(type) {
	case bool:
		return v
	case int64:
		return v != 0
	}
	return false
}

// number is the value of a column as a whole number; 0 for what is none.
func (r row) number(column string) int {
	n, _ := strconv.Atoi(r.text(column))
	return n
}

// time is the value of a column as a time; zero for what is none.
func (r row) time(column string) time.Time {
	var t sqldb.RowTime
	if t.Scan(r[column]) != nil {
		return time.Time{}
	}
	return t.Time()
}
