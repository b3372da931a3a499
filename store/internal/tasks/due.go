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
func (tx schedulerTx) wanted(w batch.Wanted, columns string) (query string, args []any, err error) {
	add := func(value any) string {
		args = append(args, value)
		return "$" + strconv.Itoa(len(args))
	}
	id := tx.SQL().Bytewise("t.id")
	where := canBeClaimed
	switch {
	case w.Unplanned:
		where += ` AND nextrun <= ` + add(sqldb.Timestamp(periodic.Unplanned))
	case w.Ahead > 0:
		where += ` AND nextrun > ` + add(sqldb.Timestamp(tx.Now())) + ` AND nextrun <= ` + add(sqldb.Timestamp(tx.Now().Add(w.Ahead)))
	default:
		if where += ` AND nextrun <= ` + add(sqldb.Timestamp(tx.Now())); w.Only == nil {
			where += ` AND nextrun > ` + add(sqldb.Timestamp(lowerBound(w)))
		}
		if !slices.Contains(w.Exclude.Sinks, periodic.SinkJob) { // else somebody may have locked the table job
			where += ` AND NOT ` + batch.Waits
		}
	}
	if b := w.Beyond; !b.NextRun.IsZero() {
		due := add(sqldb.Timestamp(b.NextRun))
		if b.TaskID == "" {
			where += ` AND nextrun > ` + due
		} else {
			where += ` AND (nextrun, ` + id + `) > (` + due + `, ` + add(b.TaskID) + `)`
		}
	}
	rest, args, err := excluding(tx.Tx, w.Exclude, args)
	if err != nil {
		return "", nil, err
	}
	where += rest("t.")
	if w.Only != nil {
		ids, param, err := among(tx.Tx, len(args)+1, w.Only)
		if err != nil {
			return "", nil, err
		}
		where, args = where+` AND t.id IN `+ids, append(args, param)
	}
	args = append(args, w.Limit)
	return columns + ` FROM periodic_task AS t WHERE ` + where + ` ORDER BY nextrun, ` + id + ` LIMIT $` + strconv.Itoa(len(args)), args, nil
}

// lowerBound is when the tasks that are due fell due at the earliest.
func lowerBound(w batch.Wanted) time.Time {
	from := periodic.Unplanned
	for _, t := range []time.Time{w.After, w.Exclude.NextRunAfter} {
		if t.After(from) {
			from = t
		}
	}
	return from
}

// qualify names columns of a table by its alias.
func qualify(alias, columns string) string {
	names := strings.FieldsFunc(columns, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	return alias + "." + strings.Join(names, ", "+alias+".")
}

// Tasks implements [batch.Tx].
func (tx schedulerTx) Tasks(ctx context.Context, w batch.Wanted) ([]periodic.Task, error) {
	rowID := cmp.Or(strings.ReplaceAll(tx.SQL().RowIDSQL, "{}", "u."), "''")
	from, args, err := tx.wanted(w, qualify("t", claimColumns)+`, since`+tx.SQL().RowColumns)
	if err != nil {
		return nil, err
	}
	list, err := tasks(ctx, tx.Tx, asClaimed, `SELECT `+claimColumns+`, u.since, `+tx.version("u")+` AS version, `+rowID+` AS row_id, `+
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

// IDs implements scheduler.Store. It reads only ids, so that no value of a row can make it fail.
func (s Store) IDs(ctx context.Context, w batch.Wanted) (ids []string, err error) {
	err = s.db.ViewWithin(ctx, sqldb.BatchLockWait, func(outer *sqldb.Tx) error {
		from, args, err := schedulerTx{outer}.wanted(w, "t.id")
		if err != nil {
			return err
		}
		return outer.Select(ctx, &ids, `SELECT `+from, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("look for due tasks one by one: %w", err)
	}
	return ids, nil
}

// among is a subquery for ids, with its one parameter.
func among(tx *sqldb.Tx, placeholder int, ids []string) (query string, param any, err error) {
	r, err := tx.Texts(placeholder, ids)
	return `(SELECT v.value FROM ` + r.SQL + ` AS v)`, r.Param, err
}

// excluding returns the condition, beginning with AND, that leaves tasks out. Call
// it with the alias of periodic_task, such as "q.". all is args with the parameters
// of the condition.
func excluding(tx *sqldb.Tx, exclude batch.Exclude, args []any) (condition func(alias string) string, all []any, err error) {
	text := ""
	if len(exclude.IDs) > 0 {
		ids, param, err := among(tx, len(args)+1, exclude.IDs)
		if err != nil {
			return nil, nil, err
		}
		text += ` AND @id NOT IN ` + ids
		args = append(args, param)
	}
	if len(exclude.Sinks) > 0 || exclude.OnlySinks != nil {
		args = append(args, sqldb.Timestamp(periodic.Unplanned))
		planned, sinks := fmt.Sprintf("$%d", len(args)), []string(nil)
		if len(exclude.Sinks) > 0 {
			sinks = append(sinks, `@sink NOT IN (`+placeholders(&args, exclude.Sinks)+`)`)
		}
		if exclude.OnlySinks != nil {
			sinks = append(sinks, `@sink IN (`+placeholders(&args, exclude.OnlySinks)+`)`)
		}
		text += ` AND (@nextrun <= ` + planned + ` OR ` + strings.Join(sinks, ` AND `) + `)`
	}
	return func(alias string) string { return strings.ReplaceAll(text, "@", alias) }, args, nil
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
