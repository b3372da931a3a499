package main

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"github.com/nextrun/nextrun/bench/internal/measure"
)

const (
	jobsRun   = "jobs run" // the value of an executor
	execJobs  = 20_000
	pickupJob = 200
)

// runJobs runs jobs with an empty handler, 50 at a time.
func (b *bench) runJobs(database string, run func(context.Context, *measure.DB, int) (time.Duration, error)) func(context.Context) (values, error) {
	return func(ctx context.Context) (v values, err error) {
		err = b.with(ctx, database, func(_ string, db *measure.DB) error {
			took, err := run(ctx, db, execJobs)
			v = values{jobsRun: execJobs / took.Seconds()}
			return err
		})
		return v, err
	}
}

// pickup gives an idle executor jobs one by one.
func (b *bench) pickup(database string) func(context.Context) (values, error) {
	return func(ctx context.Context) (v values, err error) {
		err = b.with(ctx, database, func(_ string, db *measure.DB) error {
			took, err := measure.Pickup(ctx, db, pickupJob)
			v = spread(took)
			return err
		})
		return v, err
	}
}

// riverJobs measures River's client with the same pool and its shortest cooldown.
func (b *bench) riverJobs(ctx context.Context) (v values, err error) {
	url, drop, err := b.createDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	conns, client, err := openRiver(ctx, url, river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: measure.Pool}}, FetchCooldown: time.Millisecond,
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
