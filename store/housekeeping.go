package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store/internal/events"
	"github.com/nextrun/nextrun/store/internal/tasks"
	"github.com/nextrun/nextrun/store/internal/workers"
)

// periodicStore is the database as the scheduler's store.
type periodicStore struct {
	tasks.Store

	db *DB
}

// Prune implements scheduler.Store.
func (s periodicStore) Prune(ctx context.Context, keep scheduler.Retention) (n scheduler.Pruned, err error) {
	var failed [4]error
	if keep.Ticks > 0 {
		n.Ticks, failed[0] = tasks.PruneTicks(ctx, s.db.db, keep.Ticks)
	}
	if keep.Jobs > 0 {
		n.Jobs, failed[1] = s.db.pruneJobs(ctx, keep.Jobs)
	}
	if keep.Events > 0 {
		n.Events, failed[2] = events.New(s.db.db).Prune(ctx, keep.Events)
	}
	failed[3] = workers.Prune(ctx, s.db.db)
	return n, errors.Join(failed[:]...)
}

// pruneJobs leaves a table alone that was there before nextrun came.
func (db *DB) pruneJobs(ctx context.Context, age time.Duration) (n int, err error) {
	found := 0
	err = db.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.First(ctx, &found, "SELECT count(*) FROM nextrun_found WHERE name = 'job'")
	})
	if err != nil {
		return 0, fmt.Errorf("ask whose the jobs are: %w", err)
	}
	if found > 0 {
		return 0, nil
	}
	return jobqueue.NewQueue(db.Jobs()).Prune(ctx, jobqueue.PruneFilter{OlderThan: age})
}
