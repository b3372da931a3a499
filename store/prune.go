package store

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/store/internal/tasks"
)

// PruneTicks deletes the records of ticks that were decided longer ago than age, and
// returns their number. Ticks that wait for a job stay. It works in small batches,
// each in a transaction of its own. If the database refuses to delete some of them,
// the error names those; all others are deleted.
func (db *DB) PruneTicks(ctx context.Context, age time.Duration) (int, error) {
	if age < 0 {
		return 0, fmt.Errorf("prune ticks: the age is %s; use 0 or more", age)
	}
	return tasks.PruneTicks(ctx, db.db, age)
}
