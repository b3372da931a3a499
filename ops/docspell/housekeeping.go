package docspell

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

// LacksHousekeeping reports whether no executor of nextrun deletes old ticks here:
// there is no enabled task of [periodic.HousekeepingTask], because the database is
// Docspell's. On other databases whoever removed that task keeps
// everything on purpose, and LacksHousekeeping reports false.
func LacksHousekeeping(ctx context.Context, db sqldb.Opened) (lacks bool, err error) {
	err = sqldb.Of(db).View(ctx, func(tx *sqldb.Tx) error {
		node, err := nodeColumns(ctx, tx)
		if err != nil || node == nil {
			return err
		}
		var tasks int
		err = tx.First(ctx, &tasks, `SELECT count(*) FROM periodic_task WHERE task = $1 AND enabled`, periodic.HousekeepingTask)
		lacks = tasks == 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look for the task that deletes old ticks: %w", err)
	}
	return lacks, nil
}
