package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/internal/workers"
)

// HousekeepingTask is the task of the row nextrun-housekeeping, which comes
// with the schema: its jobs delete what is old. Register its handler with every
// executor:
//
//	executor.Register(store.HousekeepingTask, db.Housekeeping())
const HousekeepingTask = periodic.HousekeepingTask

// Housekeeping returns the handler of [HousekeepingTask]. The job's args say how
// many days ticks, final jobs with their logs, and events are kept; 0 or
// nothing keeps them for ever:
//
//	{"ticks_days": 30, "jobs_days": 30, "events_days": 30}
//
// A row that cannot be deleted, because of a trigger, a foreign key or a lock, stays;
// everything else is deleted. The job then fails, and says how many rows stay, names
// the first ones, and says what to do.
func (db *DB) Housekeeping() jobqueue.Handler {
	return jobqueue.JSON(func(ctx context.Context, job *jobqueue.JobContext, keep retention) error {
		if err := keep.validate(); err != nil {
			return jobqueue.Permanent(err)
		}
		ticks, err1 := pruneTicks(ctx, db, keep.Ticks)
		jobs, err2 := pruneJobs(ctx, db, keep.Jobs)
		events, err3 := pruneEvents(ctx, db, keep.Events)
		err4 := workers.Prune(ctx, db.db)
		deleted := fmt.Sprintf("deleted ticks: %d, jobs: %d, events: %d", ticks, jobs, events)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			var kept *sqldb.KeptError
			if errors.As(err, &kept) { // to try again at once would not help
				err = jobqueue.Permanent(err)
			}
			return fmt.Errorf("%s; %w", deleted, err)
		}
		job.SetResult(deleted)
		return nil
	})
}

// retention is how many days rows are kept.
type retention struct {
	Ticks  int `json:"ticks_days"`
	Jobs   int `json:"jobs_days"`
	Events int `json:"events_days"`
}

func (r retention) validate() error {
	const most = 36_500
	for name, days := range map[string]int{"ticks_days": r.Ticks, "jobs_days": r.Jobs, "events_days": r.Events} {
		if days < 0 || days > most {
			return fmt.Errorf("%s is %d; use 1 to %d, or 0 to keep them for ever", name, days, most)
		}
	}
	return nil
}

func age(days int) time.Duration { return time.Duration(days) * 24 * time.Hour }

func pruneTicks(ctx context.Context, db *DB, days int) (int, error) {
	if days == 0 {
		return 0, nil
	}
	return db.PruneTicks(ctx, age(days))
}

func pruneJobs(ctx context.Context, db *DB, days int) (int, error) {
	if days == 0 {
		return 0, nil
	}
	return jobqueue.NewQueue(db.Jobs()).Prune(ctx, jobqueue.PruneFilter{OlderThan: age(days)})
}

func pruneEvents(ctx context.Context, db *DB, days int) (int, error) {
	if days == 0 {
		return 0, nil
	}
	return db.events.Outbox().Prune(ctx, age(days))
}
