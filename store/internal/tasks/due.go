package tasks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// wanted returns the rest of a query behind SELECT, which yields these columns of tasks t, and its parameters.
func (tx schedulerTx) wanted(w batch.Wanted, columns string) (query string, args []any) {
	add := func(value any) string {
		args = append(args, value)
		return "$" + strconv.Itoa(len(args))
	}
	id := tx.SQL().Bytewise("t.id")
	where := canBeDue
	switch {
	case w.Unplanned:
		where += ` AND nextrun <= ` + add(sqldb.Timestamp(periodic.Unplanned))
	case w.Ahead > 0:
		where += ` AND nextrun > ` + add(sqldb.Timestamp(tx.Now())) + ` AND nextrun <= ` + add(sqldb.Timestamp(tx.Now().Add(w.Ahead)))
	default:
		if where += ` AND nextrun <= ` + add(sqldb.Timestamp(tx.Now())); w.Only == nil {
			where += ` AND nextrun > ` + add(sqldb.Timestamp(periodic.Unplanned))
		}
		where += notWaiting(w.Scope)
	}
	if b := w.Beyond; !b.NextRun.IsZero() {
		due := add(sqldb.Timestamp(b.NextRun))
		if b.TaskID == "" {
			where += ` AND nextrun > ` + due
		} else {
			where += ` AND (nextrun, ` + id + `) > (` + due + `, ` + add(b.TaskID) + `)`
		}
	}
	rest, args := tx.within(w.Scope, args)
	where += rest
	if w.Only != nil {
		r := tx.DB().Records(len(args)+1, []sqldb.Field{sqldb.Text("id")}, len(w.Only), func(i int) []any { return []any{w.Only[i].ID} })
		where, args = where+` AND t.id IN (SELECT v.id FROM `+r.SQL+` AS v)`, append(args, r.Param)
	}
	args = append(args, w.Limit)
	return columns + ` FROM periodic_task AS t WHERE ` + where + ` ORDER BY nextrun, ` + id + ` LIMIT $` + strconv.Itoa(len(args)), args
}

// qualify names columns of a table by its alias.
func qualify(alias, columns string) string {
	names := strings.FieldsFunc(columns, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	return alias + "." + strings.Join(names, ", "+alias+".")
}

// Tasks implements [batch.Tx].
func (tx schedulerTx) Tasks(ctx context.Context, w batch.Wanted) ([]periodic.Task, error) {
	version, rowID := `, since, rev, ctid`, `u.ctid::text` // where the row is until it is written
	if tx.SQL().IsSQLite() {
		version, rowID = `, since, rev`, `''`
	}
	from, args := tx.wanted(w, qualify("t", dueColumnNames)+version)
	list, err := tasks(ctx, tx.Tx, asDue, `SELECT `+dueColumnNames+`, u.since, `+tx.version("u")+` AS version, `+rowID+` AS row_id, `+
		skips(tx.Tx, "u.id")+` AS skips FROM (SELECT `+from+`) AS u`, args...)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Enabled = true
	}
	slices.SortFunc(list, func(a, b periodic.Task) int { // Batch.ReadyAt and pages rely on it
		return cmp.Or(a.NextRun.Compare(b.NextRun), cmp.Compare(a.ID, b.ID))
	})
	return list, attachCalendars(ctx, tx.Tx, list)
}

// Rows implements scheduler.Store. It reads only ids and versions, so that no value of a row can make it fail.
func (s Store) Rows(ctx context.Context, w batch.Wanted) (rows []batch.Row, err error) {
	err = s.db.ViewWithin(ctx, sqldb.BatchLockWait, func(outer *sqldb.Tx) error {
		tx := schedulerTx{outer}
		from, args := tx.wanted(w, "t.id, "+tx.version("t")+" AS version")
		return tx.Select(ctx, &rows, `SELECT `+from, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("look for due tasks one by one: %w", err)
	}
	return rows, nil
}

// within returns the condition, beginning with AND, of a scope of tasks t. all is args with its parameters.
func (tx schedulerTx) within(scope batch.Scope, args []any) (condition string, all []any) {
	if rows := scope.LeftOut; len(rows) > 0 {
		r := tx.DB().Records(len(args)+1, []sqldb.Field{sqldb.Text("id"), sqldb.Text("version")}, len(rows),
			func(i int) []any { return []any{rows[i].ID, rows[i].Version} })
		condition += ` AND (t.id, ` + tx.version("t") + `) NOT IN (SELECT v.id, v.version FROM ` + r.SQL + ` AS v)`
		args = append(args, r.Param)
	}
	if scope.Sinks != nil {
		args = append(args, sqldb.Timestamp(periodic.Unplanned))
		condition += fmt.Sprintf(` AND (t.nextrun <= $%d OR t.sink IN (`, len(args)) + placeholders(&args, scope.Sinks) + `))`
	}
	return condition + ` AND t.` + knownOverlap, args
}

// notWaiting is the condition that leaves out tasks that wait for the end of a job; other queues are asked whether it has
// ended. Somebody may have locked a table job that is not in scope.
func notWaiting(scope batch.Scope) string {
	if scope.Sinks != nil && !slices.Contains(scope.Sinks, periodic.SinkJob) {
		return ``
	}
	return ` AND NOT ` + batch.WaitsHere
}

// placeholders appends sinks to args, and returns their placeholders.
func placeholders(args *[]any, sinks []periodic.Sink) string {
	list := make([]string, len(sinks))
	for i, sink := range sinks {
		*args = append(*args, string(sink))
		list[i] = fmt.Sprintf("$%d", len(*args))
	}
	return strings.Join(list, ", ")
}

func (tx schedulerTx) SetProblem(ctx context.Context, id, problem string) error {
	_, err := tx.Exec(ctx, `UPDATE periodic_task SET problem = $1 WHERE id IN (
		SELECT id FROM periodic_task WHERE id = $2`+tx.SQL().ForUpdate+`)`, problem, id)
	return err
}

// knownOverlap leaves tasks with a policy of a newer version to the schedulers that have it.
const knownOverlap = `overlap IN ('` + string(periodic.OverlapSkip) + `', '` + string(periodic.OverlapQueue) + `', '` + string(periodic.OverlapReplace) + `', '` + string(periodic.OverlapAllow) + `')`

// isStray is true for a task that should have been taken $1 ago, and whose
// problem does not say why it was not.
const isStray = canBeDue + ` AND nextrun <= $1 AND (problem IS NULL OR problem LIKE '` + periodic.WarningPrefix + `%')
	AND (NOT ` + knownOverlap + ` AND since <= $1 OR nextrun > $2 AND sink NOT IN `

// Stray implements scheduler.Store.
func (s Store) Stray(ctx context.Context, after time.Duration, known []periodic.Sink, problem func(*periodic.Task) string) ([]periodic.Task, error) {
	var found []periodic.Task
	err := s.db.UpdateWithin(ctx, sqldb.BatchLockWait, func(outer *sqldb.Tx) error {
		tx := schedulerTx{outer}
		args := []any{sqldb.Timestamp(tx.Now().Add(-after)), sqldb.Timestamp(periodic.Unplanned)}
		var rows []struct{ ID, Timer, Sink, Overlap string }
		err := tx.Select(ctx, &rows, `SELECT id, timer, sink, overlap FROM periodic_task
			WHERE `+isStray+`(`+placeholders(&args, known)+`)) ORDER BY nextrun LIMIT 100`, args...)
		if err != nil {
			return err
		}
		for _, r := range rows {
			t := periodic.Task{ID: r.ID, Timer: r.Timer, Sink: periodic.Sink(r.Sink), Overlap: periodic.Overlap(r.Overlap)}
			t.Problem = problem(&t)
			if err := tx.SetProblem(ctx, t.ID, t.Problem); err != nil {
				return err
			}
			found = append(found, t)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for tasks that no scheduler has taken: %w", err)
	}
	return found, nil
}
