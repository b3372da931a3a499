package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// Pool is how many jobs run at a time.
const Pool = 50

// kind is the task of the jobs, whose handler does nothing.
const kind = "bench"

// RunJobs has an executor of this process run so many jobs, and returns how long that took from its start.
func RunJobs(ctx context.Context, db *DB, count int) (time.Duration, error) {
	if err := addJobs(ctx, db, count); err != nil {
		return 0, err
	}
	begun := time.Now()
	ended := newTicks(count)
	stop, err := execute(ctx, db, func(e executor.Event) {
		if e.Kind == executor.EventEnded {
			ended.add(time.Since(begun))
		}
	})
	if err != nil {
		return 0, err
	}
	all, err := ended.wait(ctx)
	if err := errors.Join(err, stop()); err != nil {
		return 0, err
	}
	return all[len(all)-1], nil
}

// PlainJobs claims and ends so many jobs with two statements for each Pool of them.
func PlainJobs(ctx context.Context, db *DB, count int) (time.Duration, error) {
	if err := addJobs(ctx, db, count); err != nil {
		return 0, err
	}
	begun := time.Now()
	n, err := db.Plain.RunJobs(ctx, Pool)
	if err == nil && n != count {
		err = fmt.Errorf("plain SQL ran %d of %d jobs", n, count)
	}
	return time.Since(begun), err
}

// Pickup submits so many jobs to an executor that has nothing else to do, and returns how long after the commit each
// handler began.
func Pickup(ctx context.Context, db *DB, count int) (took []time.Duration, err error) {
	began := make(chan time.Time, 1)
	ended := make(chan struct{}, 1)
	stop, err := executeWith(ctx, db, func() { began <- time.Now() }, func(e executor.Event) {
		if e.Kind == executor.EventEnded {
			ended <- struct{}{}
		}
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	queue := jobqueue.NewQueue(db.Jobs())
	for range count {
		if _, err := queue.Submit(ctx, jobqueue.Job{Task: kind}); err != nil {
			return nil, err
		}
		committed := time.Now()
		select {
		case at := <-began:
			took = append(took, max(0, at.Sub(committed)))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return took, nil
}

func addJobs(ctx context.Context, db *DB, count int) error {
	queue := jobqueue.NewQueue(db.Jobs())
	for left := count; left > 0; left -= 5000 {
		jobs := make([]jobqueue.Job, min(left, 5000))
		for i := range jobs {
			jobs[i] = jobqueue.Job{Task: kind}
		}
		if _, err := queue.Submit(ctx, jobs...); err != nil {
			return err
		}
	}
	return nil
}

func execute(ctx context.Context, db *DB, observe func(executor.Event)) (stop func() error, err error) {
	return executeWith(ctx, db, func() {}, observe)
}

func executeWith(ctx context.Context, db *DB, handle func(), observe func(executor.Event)) (stop func() error, err error) {
	e, err := executor.New(db.Jobs(), executor.Config{Name: "bench", PoolSize: Pool, Logger: quiet(), Observe: observe})
	if err != nil {
		return nil, err
	}
	e.Register(kind, func(context.Context, *jobqueue.JobContext) error { handle(); return nil })
	if err := e.Start(ctx); err != nil {
		return nil, err
	}
	return func() error { return e.Stop(context.WithoutCancel(ctx)) }, nil
}
