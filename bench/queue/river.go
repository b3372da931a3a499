package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

type emptyArgs struct{}

func (emptyArgs) Kind() string { return "empty" }

type emptyWorker struct {
	river.WorkerDefaults[emptyArgs]
}

func (emptyWorker) Work(context.Context, *river.Job[emptyArgs]) error { return nil }

// runRiver measures River's client with the same pool; a cooldown of 0 leaves
// all its settings at their defaults.
func runRiver(cooldown time.Duration) func(context.Context, string, int) (time.Duration, error) {
	return func(ctx context.Context, url string, n int) (time.Duration, error) {
		conns, err := pgxpool.New(ctx, url)
		if err != nil {
			return 0, err
		}
		defer conns.Close()
		driver := riverpgxv5.New(conns)
		migrator, err := rivermigrate.New(driver, nil)
		if err != nil {
			return 0, err
		}
		if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return 0, err
		}
		workers := river.NewWorkers()
		river.AddWorker(workers, emptyWorker{})
		client, err := river.NewClient(driver, &river.Config{
			Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: pool}}, Workers: workers,
			FetchCooldown: cooldown, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return 0, err
		}
		for left := n; left > 0; left -= 5000 {
			params := make([]river.InsertManyParams, min(left, 5000))
			for i := range params {
				params[i].Args = emptyArgs{}
			}
			if _, err := client.InsertManyFast(ctx, params); err != nil {
				return 0, err
			}
		}
		events, cancel := client.SubscribeConfig(&river.SubscribeConfig{
			ChanSize: n, Kinds: []river.EventKind{river.EventKindJobCompleted},
		})
		defer cancel()
		began := time.Now()
		if err := client.Start(ctx); err != nil {
			return 0, err
		}
		for range n {
			<-events
		}
		return time.Since(began), client.Stop(ctx)
	}
}
