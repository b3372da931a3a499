package main

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/nextrun/nextrun/bench/internal/measure"
)

// The values of a burst: tasks that are all due at the same time.
const (
	firstJob   = "first job"
	allJobs    = "all jobs"
	peakMemory = "memory"
)

// jobRows are the jobs of a burst, on PostgreSQL.
const jobRows = "job WHERE tracker LIKE 'bench-%'"

// burst measures processes of nextrun.
func (b *bench) burst(tasks, processes int) func(context.Context) (values, error) {
	return func(ctx context.Context) (v values, err error) {
		err = b.withPostgres(ctx, func(url string, db *measure.DB) error {
			if _, err := measure.AddBurst(ctx, db, tasks); err != nil {
				return err
			}
			v, err = b.schedule(ctx, url, tasks, processes)
			return err
		})
		return v, err
	}
}

// schedule starts schedulers, waits for so many jobs and says when they were committed.
func (b *bench) schedule(ctx context.Context, url string, jobs, processes int) (v values, err error) {
	var running []*process
	defer func() {
		for _, p := range slices.Backward(running) {
			err = errors.Join(err, p.stop())
		}
	}()
	for i := range processes {
		p, err := b.scheduler(ctx, url, "bench-"+strconv.Itoa(i))
		if err != nil {
			return nil, err
		}
		running = append(running, p)
	}
	if err := awaitRows(ctx, url, jobRows, jobs, running[0].ended); err != nil {
		return nil, err
	}
	if v, err = committed(ctx, url, jobRows, "due AT TIME ZONE 'UTC'"); err != nil {
		return nil, err
	}
	if mib, ok := running[0].memory(); ok {
		v[peakMemory] = mib
	}
	return v, nil
}

// plainBurst measures the one statement that claims, inserts and advances, and records nothing.
func (b *bench) plainBurst(tasks int) func(context.Context) (values, error) {
	return func(ctx context.Context) (v values, err error) {
		err = b.withPostgres(ctx, func(url string, db *measure.DB) error {
			due, err := measure.AddBurst(ctx, db, tasks)
			if err != nil {
				return err
			}
			if err := awaitTime(ctx, due, nil); err != nil {
				return err
			}
			if _, err := db.Plain.Submit(ctx); err != nil {
				return err
			}
			if err := awaitRows(ctx, url, jobRows, tasks, nil); err != nil {
				return err
			}
			v, err = committed(ctx, url, jobRows, "due AT TIME ZONE 'UTC'")
			return err
		})
		return v, err
	}
}

// inProcess measures a burst on SQLite in this process, which sees when commits return.
func inProcess(run func(context.Context, *measure.DB, int) (measure.Burst, error)) func(context.Context) (values, error) {
	return func(ctx context.Context) (v values, err error) {
		err = withSQLite(ctx, func(_ string, db *measure.DB) error {
			burst, err := run(ctx, db, 10_000)
			v = values{firstJob: measure.Millis(burst.First)[0], allJobs: measure.Millis(burst.All)[0]}
			return err
		})
		return v, err
	}
}
