package schedule

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// prunePageSize is how many ticks one transaction of [PruneTicks] looks at.
const prunePageSize = 1000

// PruneTicks deletes ticks that were decided longer ago than age; those that wait
// for a job are not old. It keeps all if age is 0.
func PruneTicks(ctx context.Context, db *sqldb.DB, age time.Duration) (int, error) {
	if age == 0 {
		return 0, nil
	}
	deleted := 0
	last := tickKeyRow{}
	for {
		full, n := false, int64(0)
		err := db.Update(ctx, func(tx *sqldb.Tx) (err error) {
			n, full, err = prunePage(ctx, tx, &last, tx.Now().Add(-age))
			return err
		})
		if deleted += int(n); err != nil || !full {
			return deleted, err
		}
	}
}

// prunePage deletes the old ones of the ticks that follow last, of one page of
// the primary key, so that a pass over the table reads each tick once. It moves
// last to the end of the page, and reports whether the page was full.
func prunePage(ctx context.Context, tx *sqldb.Tx, last *tickKeyRow, before time.Time) (deleted int64, full bool, err error) {
	var end []tickKeyRow
	from := sqldb.Timestamp(last.Due.Time())
	if from.Time().IsZero() {
		from = sqldb.Timestamp(periodic.Unplanned)
	}
	err = tx.Select(ctx, &end, `SELECT task_id, due FROM periodic_tick WHERE (task_id, due) > ($1, $2)
		ORDER BY task_id, due LIMIT 1 OFFSET $3`, last.TaskID, from, prunePageSize-1)
	if err != nil {
		return 0, false, err
	}
	within, args := "", []any{last.TaskID, from, sqldb.Timestamp(before), string(periodic.Queued)}
	if full = len(end) > 0; full {
		within, args = " AND (task_id, due) <= ($5, $6)", append(args, end[0].TaskID, end[0].Due)
		*last = end[0]
	}
	deleted, err = tx.Exec(ctx, `DELETE FROM periodic_tick
		WHERE (task_id, due) > ($1, $2) AND decided < $3 AND decision <> $4`+within, args...)
	return deleted, full, err
}
