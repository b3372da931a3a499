package measure

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// eachSecond is a timer that elapses every second.
const eachSecond = "*-*-* *:*:* UTC"

// Punctual has a scheduler submit a task that is due every second, and returns for so many ticks how long after it was due
// each was committed. beside other tasks are due at the same seconds; if there are any, an executor runs all jobs.
func Punctual(ctx context.Context, db *DB, count, beside int) (late []time.Duration, err error) {
	if err := db.Plain.AddSteady(ctx, 1, 1+beside, eachSecond); err != nil {
		return nil, err
	}
	if beside > 0 {
		stop, err := execute(ctx, db, func(executor.Event) {})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	const first = 2 // until the scheduler has planned and warmed up
	seen := newTicks(first + count)
	stop, err := schedule(ctx, db, func(e scheduler.Event) {
		if e.Kind == scheduler.EventTick && e.Tick.TaskID == "bench-1" {
			seen.add(now(db).Sub(e.Tick.Due))
		}
	})
	if err != nil {
		return nil, err
	}
	all, err := seen.wait(ctx)
	if err := errors.Join(err, stop()); err != nil {
		return nil, err
	}
	return all[first:], nil
}
