package queues

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// result is what a statement returned. Statements may return their columns in any order,
// and some of them.
type result struct {
	columns []string // in lower case
	list    []row
}

// row is a row by the names of its columns.
type row map[string]any

// query runs a statement over records and reads all rows.
func (q *queue) query(ctx context.Context, tx *sqldb.Tx, s statement, r sqldb.Records, more ...any) (result, error) {
	text := strings.ReplaceAll(s.text, "{batch}", r.SQL)
	rows, err := tx.DBTX().QueryContext(ctx, tx.SQL().Rebind(text)+s.user, append([]any{r.Param}, more...)...)
	if err != nil {
		return result{}, q.unusable(q.db.Classify(ctx, err))
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	found, err := readRows(rows)
	return found, q.unusable(q.db.Classify(ctx, err))
}

// unusable marks an error that no row, lock or broken connection explains: tables,
// columns, functions or rights are not as the statement expects them.
func (q *queue) unusable(err error) error {
	if err == nil || errors.Is(err, sqldb.ErrRefused) || errors.Is(err, sqldb.ErrBusy) || errors.Is(err, sqldb.ErrUnavailable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	said := q.words(err)
	if said == "" {
		return err
	}
	if q.preset.remedy != "" && q.db.Say(err).Code != "42501" { // insufficient privilege
		said += "; " + q.preset.remedy
	}
	return fmt.Errorf("%w: %s", ErrUnusable, said)
}

// words is what the database says.
func (q *queue) words(err error) string {
	said := q.db.Say(err)
	if said.Detail == "" {
		return said.Message
	}
	return said.Message + " (" + strings.TrimSuffix(said.Detail, ".") + ")"
}

// saved runs fn inside a savepoint, so that an error leaves the transaction usable.
func saved(ctx context.Context, tx *sqldb.Tx, fn func() error) error {
	if _, err := tx.Exec(ctx, "SAVEPOINT nextrun_queue"); err != nil {
		return err
	}
	err := fn()
	if err != nil {
		if _, back := tx.Exec(ctx, "ROLLBACK TO SAVEPOINT nextrun_queue"); back != nil {
			return fmt.Errorf("%w (and the savepoint is lost: %w)", err, back)
		}
	}
	if _, end := tx.Exec(ctx, "RELEASE SAVEPOINT nextrun_queue"); end != nil && err == nil {
		err = end
	}
	return err
}

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

// text is the value of a column as text; empty for NULL, or if there is no such column.
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
