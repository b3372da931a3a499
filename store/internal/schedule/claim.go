package schedule

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
)

// claimSQL is SQL for the tasks that a claim may lock: CTEs, and a query for all of
// them.
type claimSQL struct{ with, union string }

// noneQueued is true for a task without queued ticks, unless its policy has changed
// since: such a task has none as a rule.
const noneQueued = ` AND (overlap IN ('skip', 'allow') OR NOT EXISTS (SELECT 1 FROM periodic_tick AS k
		WHERE k.task_id = periodic_task.id AND k.decision = 'queued'))`

// claimQuery returns args with the parameters of the SQL, whose queries yield these
// columns of periodic_task. With lock, the SQL also locks the tasks.
func (tx schedulerTx) claimQuery(c taskdb.Claim, columns string, args []any, lock bool) (claimSQL, []any, error) {
	suffix := ""
	if lock {
		suffix = strings.ReplaceAll(tx.SQL().ForNoKeyUpdate, " OF t", "")
	}
	args = append(args, sqldb.Timestamp(tx.Now()), c.Limit, sqldb.Timestamp(lowerBound(c)))
	nth := func(n int) string { return "$" + strconv.Itoa(n) }
	now, limit, since := nth(len(args)-2), nth(len(args)-1), nth(len(args))
	elapsed, order, args := tx.dueCondition(c, now, args)
	where, args, err := tx.filter(c, args)
	if err != nil {
		return claimSQL{}, nil, err
	}
	found := claimSQL{
		with: `WITH elapsed AS (
			SELECT ` + columns + ` FROM periodic_task WHERE ` + canBeClaimed + ` AND nextrun > ` + since + elapsed + where("") + `
			ORDER BY nextrun` + order + ` LIMIT ` + limit + suffix + `)`,
		union: `SELECT * FROM elapsed`,
	}
	if !c.After.IsZero() || c.Ahead > 0 {
		return found, args, nil
	}
	args = append(args, sqldb.Timestamp(periodic.Unplanned))
	found.with += `, unplanned AS (
			SELECT ` + columns + ` FROM periodic_task WHERE ` + canBeClaimed + ` AND nextrun <= ` + nth(len(args)) + where("") + `
			ORDER BY nextrun LIMIT ` + limit + ` - (SELECT count(*) FROM elapsed)` + suffix + `)`
	found.union += ` UNION ALL SELECT * FROM unplanned`
	if c.Exclude.Queued || slices.Contains(c.Exclude.Sinks, periodic.SinkJob) { // somebody may have locked the table job
		return found, args, nil
	}
	found.with += `, ready AS (
			SELECT ` + qualify("q", columns) + ` FROM ` + readyQueued(now) + where("q.") + `
			ORDER BY r.seq LIMIT ` + limit + ` - (SELECT count(*) FROM elapsed) - (SELECT count(*) FROM unplanned)` + suffix + `)`
	found.union += ` UNION ALL SELECT * FROM ready`
	return found, args, nil
}

// lowerBound is when the tasks of a claim fell due at the earliest.
func lowerBound(c taskdb.Claim) time.Time {
	from := periodic.Unplanned
	for _, t := range []time.Time{c.After, c.Exclude.NextRunAfter} {
		if t.After(from) && c.Only == nil {
			from = t
		}
	}
	return from
}

// dueCondition is the condition on nextrun, what else to order by, and args with its parameters. now is
// a placeholder.
func (tx schedulerTx) dueCondition(c taskdb.Claim, now string, args []any) (condition, order string, all []any) {
	if c.Ahead == 0 {
		return ` AND nextrun <= ` + now, "", args
	}
	args = append(args, sqldb.Timestamp(tx.Now().Add(c.Ahead)))
	condition = ` AND nextrun > ` + now + ` AND nextrun <= $` + strconv.Itoa(len(args)) + noneQueued
	id := tx.SQL().Bytewise("id")
	if !c.Beyond.NextRun.IsZero() {
		args = append(args, sqldb.Timestamp(c.Beyond.NextRun))
		due := `$` + strconv.Itoa(len(args))
		beyond := `nextrun > ` + due
		if c.Beyond.TaskID != "" {
			args = append(args, c.Beyond.TaskID)
			beyond = `nextrun >= ` + due + ` AND (` + beyond + ` OR ` + id + ` > $` + strconv.Itoa(len(args)) + `)`
		}
		condition += ` AND ` + beyond
	}
	return condition, `, ` + id, args
}

// filter is the condition of a claim on its tasks, like
// [excluding].
func (tx schedulerTx) filter(c taskdb.Claim, args []any) (condition func(alias string) string, all []any, err error) {
	rest, args, err := excluding(tx.Tx, c.Exclude, args)
	if err != nil || c.Only == nil {
		return rest, args, err
	}
	ids, param, err := among(tx.Tx, len(args)+1, c.Only)
	return func(alias string) string { return rest(alias) + ` AND ` + alias + `id IN ` + ids }, append(args, param), err
}

// qualify names columns of a table by its alias.
func qualify(alias, columns string) string {
	names := strings.FieldsFunc(columns, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	return alias + "." + strings.Join(names, ", "+alias+".")
}

// Claim implements [taskdb.Tx].
func (tx schedulerTx) Claim(ctx context.Context, c taskdb.Claim) ([]periodic.Task, error) {
	columns, version, rowID := claimColumns+tx.SQL().RowColumns, "''", cmp.Or(strings.ReplaceAll(tx.SQL().RowIDSQL, "{}", "u."), "''")
	if c.Ahead > 0 {
		version = tx.version("u")
	}
	from, args, err := tx.claimQuery(c, columns, nil, c.Ahead == 0)
	if err != nil {
		return nil, err
	}
	query := from.with + ` SELECT ` + claimColumns + `, ` + version + ` AS version, ` + rowID + ` AS row_id, ` +
		skips(tx.Tx, "u.id") + ` AS skips FROM (` + from.union + `) AS u`
	list, err := tasks(ctx, tx.Tx, asClaimed, query, args...)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Enabled = true
	}
	if err := attachCalendars(ctx, tx.Tx, list); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b periodic.Task) int { // leaveRoom, Batch.ReadyAt and prepareSoon rely on it
		return cmp.Or(a.NextRun.Compare(b.NextRun), cmp.Compare(a.ID, b.ID))
	})
	// A task may be in several parts of the claim.
	list = slices.CompactFunc(list, func(a, b periodic.Task) bool { return a.ID == b.ID })
	if c.Ahead == 0 && slices.ContainsFunc(list, func(t periodic.Task) bool { return t.NextRun.After(tx.Now()) }) {
		// Rows of tasks that earlier batches took fill the front of periodic_ready.
		if _, err := readyTx(tx).forget(ctx, 4*c.Limit); err != nil {
			return nil, err
		}
	}
	return list, nil
}
