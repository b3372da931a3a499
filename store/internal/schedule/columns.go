package schedule

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/task"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// The columns of periodic_task, and lists of their names.
var (
	allColumns  = task.Columns()
	userColumns = task.UserColumns()
	// slimColumns are all but args, which may be large.
	slimColumns = slices.DeleteFunc(task.Columns(), func(c task.Column) bool { return c.Kind == column.JSON })
	// claimedColumns are those that a claim reads: not args, those whose values it knows, and the
	// limits of jobs, which go from row to row inside the database.
	claimedColumns = slices.DeleteFunc(task.Columns(), func(c task.Column) bool {
		return c.Kind == column.JSON || slices.Contains([]string{"enabled", "worker", "marked", "retry_limit", "retry_delay", "timeout", "concurrency"}, c.Name)
	})
	claimColumns = names("", claimedColumns)
	// jobColumns are those that a job gets from its task t, takenColumns where it gets them.
	jobColumns   = names("", copied)
	takenColumns = names("t.", copied)
	copied       = slices.DeleteFunc(task.Columns(), func(c task.Column) bool { return !c.Job })

	insertTask = `INSERT INTO periodic_task (` + names("", userColumns) + `, nextrun) VALUES (` + places(len(userColumns)+1) + `)
		ON CONFLICT (id) DO NOTHING`
	updateTask = `UPDATE periodic_task SET ` + assignments() + ` WHERE id = $1`
)

// names are the names of columns in the table, each after a prefix such as "t.".
func names(prefix string, columns []task.Column) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = prefix + c.InTable()
	}
	return strings.Join(list, ", ")
}

// places are n placeholders.
func places(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("$%d", i+1)
	}
	return strings.Join(list, ", ")
}

// assignments set all columns of people but the id, which comes first.
func assignments() string {
	var list []string
	for i, c := range userColumns[1:] {
		list = append(list, fmt.Sprintf("%s = $%d", c.InTable(), i+2))
	}
	return strings.Join(list, ", ")
}

// userValues are the parameters of insertTask but the last, and those of updateTask.
func userValues(t *periodic.Task) []any {
	values := make([]any, len(userColumns), len(userColumns)+1)
	for i, c := range userColumns {
		v := c.Get(t)
		if values[i] = v.Any(); v.Kind == column.Time {
			values[i] = sqldb.Timestamp(v.Time)
		}
	}
	return values
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
		var text sqldb.RowText
		err = text.Scan(src)
		c.Text = string(text)
	case column.Time:
		var at sqldb.RowTime
		err = at.Scan(src)
		c.Time = at.Time()
	case column.Truth:
		var truth sqldb.RowBool
		if err = truth.Scan(src); bool(truth) {
			c.Number = 1
		}
	default:
		var n sqldb.RowInt
		err = n.Scan(src)
		c.Number, c.Null = n.N, !n.OK
	}
	return err
}

// tasks reads tasks by a query that yields these columns, and then the texts of more.
func tasks(ctx context.Context, tx *sqldb.Tx, columns []task.Column, query string, args []any, more ...func(*periodic.Task) *string) ([]periodic.Task, error) {
	cells, rest := make([]cell, len(columns)), make([]sqldb.RowText, len(more))
	var into []any
	for i, c := range columns {
		cells[i].Kind = c.Kind
		into = append(into, &cells[i])
	}
	for i := range rest {
		into = append(into, &rest[i])
	}
	var list []periodic.Task
	err := tx.Each(ctx, into, func() {
		list = append(list, periodic.Task{})
		t := &list[len(list)-1]
		for i, c := range columns {
			c.Set(t, column.Value(cells[i]))
		}
		for i, at := range more {
			*at(t) = string(rest[i])
		}
		// Only a scheduler writes due, and never such a time: plan the task anew.
		if !t.Due.IsZero() && (t.Due.Before(periodic.Unplanned) || t.Due.After(periodic.Never)) {
			t.Due, t.NextRun = time.Time{}, periodic.Unplanned
		}
	}, query, args...)
	return list, err
}
