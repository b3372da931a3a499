package tasks

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

// PruneTicks deletes ticks whose time and decision lie longer ago than age, but the newest one that was decided of
// each task, since a plan lies after it. Ticks that cannot be deleted stay; a [*sqldb.KeptError]
// names them. It also deletes the open jobs of tasks that are gone.
func PruneTicks(ctx context.Context, db *sqldb.DB, age time.Duration) (int, error) {
	p := tickPruner{age: age}
	n, err := sqldb.Prune[tickKeyRow]{
		What: "ticks", Name: tickKeyRow.name, Page: p.page,
		Delete: func(ctx context.Context, tx *sqldb.Tx, keys []tickKeyRow) (int64, error) {
			return deleteKeys(ctx, tx, "periodic_tick", keys)
		},
	}.Run(ctx, db)
	// Each is done although another cannot, such as for want of a right on its table.
	return n, errors.Join(err, pruneOpen(ctx, db, age))
}

// tickPruner finds old ticks by pages of the primary key, so that a pass over the
// table reads each tick once.
type tickPruner struct {
	age  time.Duration
	last tickKeyRow // end of the last page
}

// page returns the old ones of the ticks that follow the last page, and whether the
// page was full.
func (p *tickPruner) page(ctx context.Context, tx *sqldb.Tx) (old []tickKeyRow, full bool, err error) {
	var end []tickKeyRow
	from := p.last.from()
	err = tx.Select(ctx, &end, `SELECT task_id, due FROM periodic_tick WHERE (task_id, due) > ($1, $2)
		ORDER BY task_id, due LIMIT 1 OFFSET $3`, p.last.TaskID, from, sqldb.PruneBatch-1)
	if err != nil {
		return nil, false, err
	}
	within, args := "", []any{p.last.TaskID, from, sqldb.Timestamp(tx.Now().Add(-p.age))}
	if full = len(end) > 0; full {
		within, args = " AND (task_id, due) <= ($4, $5)", append(args, end[0].TaskID, end[0].Due)
		p.last = end[0]
	}
	err = tx.Select(ctx, &old, `SELECT task_id, due FROM periodic_tick AS k
		WHERE (task_id, due) > ($1, $2) AND due < $3 AND coalesce(decided, due) < $3 AND (decided IS NULL
			OR EXISTS (SELECT 1 FROM periodic_tick AS n WHERE n.task_id = k.task_id AND n.due > k.due AND n.decided IS NOT NULL)
			OR NOT EXISTS (SELECT 1 FROM periodic_task AS t WHERE t.id = k.task_id))`+within, args...)
	return old, full, err
}

func (k tickKeyRow) name() string { return k.TaskID + " of " + k.Due.Time().Format(time.RFC3339) }

// from is the time to go on from behind a page that ends with the key.
func (k tickKeyRow) from() sqldb.Timestamp {
	if due := k.Due.Time(); !due.IsZero() {
		return sqldb.Timestamp(due)
	}
	return sqldb.Timestamp(periodic.Unplanned)
}

func deleteKeys(ctx context.Context, tx *sqldb.Tx, table string, keys []tickKeyRow) (int64, error) {
	r := tx.DB().Records(1, []sqldb.Field{sqldb.Text("task_id"), sqldb.Time("due")}, len(keys), func(i int) []any {
		return []any{keys[i].TaskID, keys[i].Due.Time()}
	})
	return tx.Exec(ctx, "DELETE FROM "+table+" WHERE (task_id, due) IN (SELECT k.task_id, k.due FROM "+r.SQL+" AS k)", r.Param)
}

// pruneOpen deletes the rows of periodic_open whose job was submitted longer ago than age, and has ended or is of a
// task that is gone.
func pruneOpen(ctx context.Context, db *sqldb.DB, age time.Duration) error {
	last := tickKeyRow{}
	_, err := sqldb.Prune[tickKeyRow]{
		What: "rows of periodic_open", Name: tickKeyRow.name,
		Page: func(ctx context.Context, tx *sqldb.Tx) (old []tickKeyRow, full bool, err error) {
			err = tx.Select(ctx, &old, `SELECT o.task_id, o.due FROM periodic_open AS o WHERE (o.task_id, o.due) > ($2, $3)
				AND o.submitted < $1 AND (o.ended IS NOT NULL OR NOT EXISTS (SELECT 1 FROM periodic_task AS t WHERE t.id = o.task_id))
				ORDER BY o.task_id, o.due LIMIT $4`, sqldb.Timestamp(tx.Now().Add(-age)), last.TaskID, last.from(), sqldb.PruneBatch)
			if full = len(old) == sqldb.PruneBatch; full {
				last = old[len(old)-1]
			}
			return old, full, err
		},
		Delete: func(ctx context.Context, tx *sqldb.Tx, keys []tickKeyRow) (int64, error) {
			return deleteKeys(ctx, tx, "periodic_open", keys)
		},
	}.Run(ctx, db)
	return err
}
