// Package overrides reads rows of periodic_override together with the task that they are of.
package overrides

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

// SQL is an expression for the overrides of a task, as [Read] reads them: one text, so that they come with
// the row, in the same statement. It is NULL or [] for a task that has none. While the table is empty, the database
// asks once for a whole statement.
func SQL(tx *sqldb.Tx, taskID string) string {
	list := `SELECT json_agg(json_build_array(to_char(o.due, 'YYYY-MM-DD HH24:MI:SS.US'), to_char(o.moved_to, 'YYYY-MM-DD HH24:MI:SS.US'),
		to_char(o.created, 'YYYY-MM-DD HH24:MI:SS.US'), o.who, o.reason) ORDER BY o.due)::text`
	if tx.SQL().IsSQLite() {
		list = `SELECT json_group_array(json_array(o.due, o.moved_to, o.created, o.who, o.reason))`
	}
	return `CASE WHEN (SELECT min(task_id) FROM periodic_override) IS NOT NULL THEN (` + list + ` FROM periodic_override AS o WHERE o.task_id = ` + taskID + `) END`
}

// Column is a column of queries that have [SQL].
var Column = periodic.Column{Name: "overrides", Field: column.In(column.Text,
	func(t *periodic.Task) *[]days.Override { return &t.Days.Overrides },
	func([]days.Override, *column.Value) {},
	func(v column.Value) []days.Override { return Read(v.Text) })}

// Read reads what [SQL] yields. What cannot be read is left out.
func Read(text string) (list []days.Override) {
	var rows [][5]string // NULL is the empty text
	if text == "" || json.Unmarshal([]byte(text), &rows) != nil {
		return nil
	}
	at := func(text string) time.Time {
		t, _ := time.Parse("2006-01-02 15:04:05", text)
		return t
	}
	for _, r := range rows {
		o := days.Override{Due: at(r[0]), To: at(r[1]), Created: at(r[2]), Who: r[3], Reason: r[4]}
		if !o.Due.IsZero() {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b days.Override) int { return a.Due.Compare(b.Due) })
	return list
}
