package tasks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

// The columns of periodic_task, and lists of their names.
var (
	allColumns  = periodic.Columns()
	userColumns = column.OfUsers(periodic.Columns())
	slimColumns = column.Without(allColumns, "args") // which may be large

	// plannedColumns are those that say when a task is due, and for whom.
	plannedColumns = column.Without(slimColumns, "summary", "subject", "submitter", "priority", "retry_limit", "retry_delay", "timeout",
		"worker", "marked", "paused_by", "paused_reason", "origin")

	// dueColumns are those that a scheduler reads of tasks that are due: not those whose values it knows, and not the
	// limits of jobs, which go from row to row inside the database.
	dueColumns     = column.Without(slimColumns, "enabled", "worker", "marked", "retry_limit", "retry_delay", "timeout")
	dueColumnNames = column.Names("", dueColumns)
	// asDue are the same, and what is known of the row.
	asDue = append(slices.Clip(dueColumns), sinceColumn,
		periodic.Column{Name: "version", Field: column.TextIn(func(t *periodic.Task) *string { return &t.Version })},
		periodic.Column{Name: "row_id", Field: column.TextIn(func(t *periodic.Task) *string { return &t.RowID })},
		skipsColumn)

	// oneColumns are those that are read of a single task.
	oneColumns = append(slices.Clip(allColumns), sinceColumn)

	sinceColumn = periodic.Column{Name: "since", Field: column.TimeIn(func(t *periodic.Task) *time.Time { return &t.Since })}

	// jobColumns are those that a job gets from its task t, takenColumns where it gets them.
	jobColumns   = column.Names("", copied)
	takenColumns = column.Names("t.", copied)
	copied       = slices.DeleteFunc(periodic.Columns(), func(c periodic.Column) bool { return !c.Job })

	insertTask, updateTask = statements()
)

// statements add a task and change it. Their parameters are userColumns, and to add a task
// nextrun.
func statements() (insert, update string) {
	var places, assignments []string
	for i, c := range userColumns {
		places = append(places, fmt.Sprintf("$%d", i+1))
		assignments = append(assignments, fmt.Sprintf("%s = $%d", c.InTable(), i+1))
	}
	// ON CONFLICT keeps the caller's transaction usable.
	insert = fmt.Sprintf(`INSERT INTO periodic_task (%s, nextrun) VALUES (%s, $%d) ON CONFLICT (id) DO NOTHING`,
		column.Names("", userColumns), strings.Join(places, ", "), len(places)+1)
	return insert, `UPDATE periodic_task SET ` + strings.Join(assignments[1:], ", ") + ` WHERE id = $1`
}

// userValues are the values of userColumns as parameters.
func userValues(t *periodic.Task) (values []any) {
	for _, c := range userColumns {
		values = append(values, sqldb.Param(c.Get(t)))
	}
	return values
}

// tasks reads tasks by a query that yields these columns.
func tasks(ctx context.Context, tx *sqldb.Tx, columns []periodic.Column, query string, args ...any) ([]periodic.Task, error) {
	list, err := sqldb.Rows(ctx, tx, columns, query, args...)
	for i := range list {
		// Only a scheduler writes due, and never such a time: plan the task again.
		if t := &list[i]; !t.Due.IsZero() && (t.Due.Before(periodic.Unplanned) || t.Due.After(periodic.Never)) {
			t.Due, t.NextRun = time.Time{}, periodic.Unplanned
		}
	}
	return list, err
}

// Args implements [batch.Tx]. On PostgreSQL no answer is larger than maxBytes: the tasks are
// locked, and no limit of the server ends the session of a process that has stopped in the
// middle of an answer. One that has stopped between two is idle in its transaction.
func (tx schedulerTx) Args(ctx context.Context, ids []string, maxBytes int) (map[string]string, error) {
	r := tx.DB().Records(1, []sqldb.Field{sqldb.Int("pos"), sqldb.Text("id")}, len(ids),
		func(i int) []any { return []any{i, ids[i]} })
	size, whole := `octet_length(s.args)`, `w.total <= $2`
	if tx.SQL().IsSQLite() {
		size, whole = `length(s.args)`, `true`
	}
	var rows []struct {
		ID, Args string
		Whole    sqldb.RowBool
	}
	err := tx.Select(ctx, &rows, `SELECT t.id, CASE WHEN `+whole+` THEN t.args ELSE '' END AS args, `+whole+` AS whole FROM (
			SELECT v.pos, v.id, sum(`+size+`) OVER (ORDER BY v.pos) AS total
			FROM `+r.SQL+` AS v JOIN periodic_task AS s ON s.id = v.id) AS w
		JOIN periodic_task AS t ON t.id = w.id WHERE w.pos = 0 OR w.total <= $2`, r.Param, maxBytes)
	args := make(map[string]string, len(rows))
	for _, row := range rows {
		if err == nil && !bool(row.Whole) {
			row.Args, err = tx.longArgs(ctx, row.ID, maxBytes)
		}
		args[row.ID] = row.Args
	}
	return args, err
}

// longArgs reads args in parts. A character takes four bytes at most.
func (tx schedulerTx) longArgs(ctx context.Context, id string, maxBytes int) (string, error) {
	var args strings.Builder
	for at := 1; ; at += maxBytes / 4 {
		var part string
		err := tx.First(ctx, &part, `SELECT substr(args, $2, $3) FROM periodic_task WHERE id = $1`, id, at, maxBytes/4)
		if err != nil || part == "" {
			return args.String(), err
		}
		args.WriteString(part)
	}
}
