package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"github.com/nextrun/nextrun/bench/internal/measure"
)

// The figures of an executor.
const (
	jobsRun   = "jobs run"
	pickup    = "job committed to handler begun, median"
	pickup99  = "job committed to handler begun, 99th percentile"
	execJobs  = 10_000
	pickupJob = 200
)

// executors run jobs with an empty handler, 50 at a time.
func (b *bench) executors() []group {
	of := func(database string, run func(context.Context, *measure.DB, int) (time.Duration, error)) func(context.Context) (values, error) {
		return func(ctx context.Context) (v values, err error) {
			err = b.with(ctx, database, func(_ string, db *measure.DB) error {
				took, err := run(ctx, db, execJobs)
				v = values{jobsRun: execJobs / took.Seconds()}
				return err
			})
			return v, err
		}
	}
	both := func(database string) []contender {
		return []contender{{ours, of(database, measure.RunJobs)}, {"plain SQL", of(database, measure.PlainJobs)}}
	}
	figures := []figure{{jobsRun, "jobs/s", true}}
	return []group{
		{
			name: "executor-postgresql", database: postgres, figures: figures, about: "10,000 jobs with an empty handler, 50 at a time",
			contenders: append(both(postgres),
				contender{"River", func(ctx context.Context) (values, error) { return b.riverJobs(ctx, 0) }},
				contender{"River, fetch cooldown 1 ms", func(ctx context.Context) (values, error) { return b.riverJobs(ctx, time.Millisecond) }}),
		},
		{name: "executor-sqlite", database: sqlite, figures: figures, about: "10,000 jobs with an empty handler, 50 at a time", contenders: both(sqlite)},
		b.pickup(postgres, "postgresql"), b.pickup(sqlite, "sqlite"),
	}
}

func (b *bench) pickup(database, name string) group {
	return group{
		name: "pickup-" + name, database: database, about: "jobs that an idle executor is given one by one",
		figures: []figure{{pickup, "ms", false}, {pickup99, "ms", false}},
		contenders: []contender{{ours, func(ctx context.Context) (v values, err error) {
			err = b.with(ctx, database, func(_ string, db *measure.DB) error {
				took, err := measure.Pickup(ctx, db, pickupJob)
				if err != nil {
					return err
				}
				ms := measure.Millis(took...)
				slices.Sort(ms)
				v = values{pickup: measure.Quantile(ms, 0.5), pickup99: measure.Quantile(ms, 0.99)}
				return nil
			})
			return v, err
		}}},
	}
}

// riverJobs measures River's client with the same pool; a cooldown of 0 leaves all its settings at their defaults.
func (b *bench) riverJobs(ctx context.Context, cooldown time.Duration) (v values, err error) {
	url, drop, err := b.createDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	conns, client, err := openRiver(ctx, url, river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: measure.Pool}}, FetchCooldown: cooldown,
	})
	if err != nil {
		return nil, err
	}
	defer conns.Close()
	for left := execJobs; left > 0; left -= 5000 {
		params := make([]river.InsertManyParams, min(left, 5000))
		for i := range params {
			params[i].Args = emptyArgs{}
		}
		if _, err := client.InsertManyFast(ctx, params); err != nil {
			return nil, err
		}
	}
	events, cancel := client.SubscribeConfig(&river.SubscribeConfig{ChanSize: execJobs, Kinds: []river.EventKind{river.EventKindJobCompleted}})
	defer cancel()
	begun := time.Now()
	if err := client.Start(ctx); err != nil {
		return nil, err
	}
	for range execJobs {
		select {
		case <-events:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return values{jobsRun: execJobs / time.Since(begun).Seconds()}, client.Stop(ctx)
}
