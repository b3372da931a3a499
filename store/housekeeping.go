package store

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store/internal/schedule"
)

// HousekeepingTask is the task of the row nextrun-housekeeping, which comes
// with the schema: its jobs delete what is old. Register its handler with every
// executor:
//
//	executor.Register(store.HousekeepingTask, db.Housekeeping())
const HousekeepingTask = "nextrun.housekeeping"

// pruneBatch is how many rows are deleted in one transaction.
const pruneBatch = 1000

// Housekeeping returns the handler of [HousekeepingTask]. The job's args say how
// many days ticks, final jobs with their logs, and events are kept; 0 or
// nothing keeps them for ever:
//
//	{"ticks_days": 30, "jobs_days": 30, "events_days": 30}
func (db *DB) Housekeeping() jobqueue.Handler {
	return jobqueue.JSON(func(ctx context.Context, job *jobqueue.JobContext, keep retention) error {
		if err := keep.validate(); err != nil {
			return jobqueue.Permanent(err)
		}
		ticks, err := schedule.PruneTicks(ctx, db.db, age(keep.Ticks))
		if err != nil {
			return fmt.Errorf("delete ticks: %w", err)
		}
		jobs := 0
		if keep.Jobs > 0 {
			jobs, err = jobqueue.NewQueue(db.Jobs()).Prune(ctx, jobqueue.PruneFilter{OlderThan: age(keep.Jobs)})
			if err != nil {
				return err
			}
		}
		events, err := db.pruneEvents(ctx, keep.Events)
		if err != nil {
			return err
		}
		job.SetResult(fmt.Sprintf("deleted ticks: %d, jobs: %d, events: %d", ticks, jobs, events))
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

func (db *DB) pruneEvents(ctx context.Context, days int) (int, error) {
	if days == 0 {
		return 0, nil
	}
	return inBatches(func() (int, error) {
		removed, err := db.Outbox().Prune(ctx, age(days), age(days), pruneBatch)
		return max(removed.Messages, removed.Events), err
	})
}

// inBatches deletes until a batch is not full, and returns the sum.
func inBatches(remove func() (int, error)) (sum int, err error) {
	for {
		n, err := remove()
		if sum += n; err != nil || n < pruneBatch {
			return sum, err
		}
	}
}
