package store

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/store/internal/schedule"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// PruneTicks deletes the records of ticks that were decided longer ago than age, and
// returns their number. It also deletes the record of what people did longer ago. Ticks that wait for a job stay. It works in small batches,
// each in a transaction of its own. If the database refuses to delete some of them,
// the error names those; all others are deleted.
func (db *DB) PruneTicks(ctx context.Context, age time.Duration) (int, error) {
	if age < 0 {
		return 0, fmt.Errorf("prune ticks: the age is %s; use 0 or more", age)
	}
	return schedule.PruneTicks(ctx, db.db, age)
}

// LacksHousekeeping reports whether no executor of nextrun deletes old ticks here:
// there is no enabled task of [HousekeepingTask], because the tables of jobs are
// Docspell's or missing. On other databases whoever removed that task keeps
// everything on purpose, and LacksHousekeeping reports false.
func (db *DB) LacksHousekeeping(ctx context.Context) (lacks bool, err error) {
	err = db.db.View(ctx, func(tx *sqldb.Tx) error {
		node, err := nodeColumns(ctx, tx)
		if err != nil {
			return err
		}
		has, err := tx.HasJobs(ctx)
		if err != nil {
			return err
		}
		job, err := tx.Columns(ctx, "job")
		if err != nil || node == nil && has && len(job) > 0 {
			return err
		}
		var tasks int
		err = tx.First(ctx, &tasks, `SELECT count(*) FROM periodic_task WHERE task = $1 AND enabled`, HousekeepingTask)
		lacks = tasks == 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look for the task that deletes old ticks: %w", err)
	}
	return lacks, nil
}
