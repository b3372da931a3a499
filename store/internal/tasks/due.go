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

	"github.com/nextrun/nextrun/internal/service"
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
			where += ` AND NOT ` + sqldb.Waits
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

// Free implements [batch.Tx].
func (tx schedulerTx) Free(ctx context.Context, ids []string) (free []string, err error) {
	among, param, err := among(tx.Tx, 1, ids)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	err = tx.Select(ctx, &free, `SELECT t.id FROM periodic_task AS t WHERE t.id IN `+among+` AND `+canBeClaimed+` AND nextrun <= $2 AND NOT `+sqldb.Waits+
		tx.SQL().ForNoKeyUpdate, param, sqldb.Timestamp(tx.Now()))
	return free, err
}

// marked is when a task was marked. What no scheduler writes has expired.
const marked = `CASE WHEN marked >= '1970-01-01 00:00:00' AND marked < '9999-12-31 00:00:00' THEN marked ELSE '1970-01-01 00:00:00' END`

// ClearMarks finds the marks of a name by what stands in front of the boot id in a
// [service.WorkerID].
func (tx schedulerTx) ClearMarks(ctx context.Context, lease time.Duration, name string) (int, error) {
	n, err := tx.Exec(ctx, `UPDATE periodic_task SET worker = NULL, marked = NULL WHERE id IN (
			SELECT id FROM periodic_task WHERE worker IS NOT NULL AND (
				marked IS NULL OR marked < $1 OR marked > $2
				OR ($3 <> '' AND (worker = $3 OR substr(worker, 1, length($4)) = $4)))`+
		tx.SQL().ForUpdate+`)`,
		sqldb.Timestamp(tx.Now().Add(-lease)), sqldb.Timestamp(tx.Now().Add(lease)), name, service.WorkerName(name)+service.BootMark)
	return int(n), err
}

// Args implements [batch.Tx]. On PostgreSQL no answer is larger than maxBytes: the tasks are
// locked, and no limit of the server ends the session of a process that has stopped in the
// middle of an answer. One that has stopped between two is idle in its transaction.
func (tx schedulerTx) Args(ctx context.Context, ids []string, maxBytes int) (map[string]string, error) {
	r, err := tx.DB().Records(1, []sqldb.Field{sqldb.Int("pos"), sqldb.Text("id")}, len(ids),
		func(i int) []any { return []any{i, ids[i]} })
	if err != nil {
		return nil, err
	}
	size, whole := `octet_length(s.args)`, `w.total <= $2`
	if tx.SQL().IsSQLite() {
		size, whole = `length(s.args)`, `true`
	}
	var rows []struct {
		ID, Args string
		Whole    sqldb.RowBool
	}
	err = tx.Select(ctx, &rows, `SELECT t.id, CASE WHEN `+whole+` THEN t.args ELSE '' END AS args, `+whole+` AS whole FROM (
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
