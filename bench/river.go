package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// riverQueue is the queue of the jobs, which nobody works off.
const riverQueue = "bench"

type emptyArgs struct {
	Path string `json:"path,omitempty"`
	Keep int    `json:"keep,omitempty"`
}

func (emptyArgs) Kind() string { return "empty" }

type emptyWorker struct {
	river.WorkerDefaults[emptyArgs]
}

func (emptyWorker) Work(context.Context, *river.Job[emptyArgs]) error { return nil }

// once is due at one time, and then a day later.
type once struct{ due time.Time }

func (s once) Next(t time.Time) time.Time {
	if t.Before(s.due) {
		return s.due
	}
	return s.due.Add(24 * time.Hour)
}

// openRiver makes River's tables and returns its connections and a client.
func openRiver(ctx context.Context, url string, config river.Config) (*pgxpool.Pool, *river.Client[pgx.Tx]) {
	conns := must.Get(pgxpool.New(ctx, url))
	driver := riverpgxv5.New(conns)
	must.Get(must.Get(rivermigrate.New(driver, nil)).Migrate(ctx, rivermigrate.DirectionUp, nil))
	config.Workers = river.NewWorkers()
	river.AddWorker(config.Workers, emptyWorker{})
	config.Logger = slog.New(slog.DiscardHandler)
	return conns, must.Get(river.NewClient(driver, &config))
}

// runRiver is a process with River's periodic jobs: burst TASKS DUE, or steady TASKS DUE. It ends with ctx.
func runRiver(ctx context.Context, args []string) {
	tasks, due := tasksDue(args)
	jobs := make([]*river.PeriodicJob, tasks)
	make1 := func() (river.JobArgs, *river.InsertOpts) {
		return emptyArgs{"/srv/data", 7}, &river.InsertOpts{Queue: riverQueue}
	}
	for i := range jobs {
		var schedule river.PeriodicSchedule = once{due}
		if args[0] == "steady" {
			schedule = staggered{period(i), time.Duration(rand.Int64N(int64(period(i))))}
		}
		jobs[i] = river.NewPeriodicJob(schedule, make1, &river.PeriodicJobOpts{ID: fmt.Sprintf("bench-%d", i+1)})
	}
	conns, client := openRiver(ctx, os.Getenv(peerDatabase), river.Config{
		Queues: map[string]river.QueueConfig{"nobody": {MaxWorkers: 1}}, PeriodicJobs: jobs,
	})
	defer conns.Close()
	must.Nil(client.Start(context.WithoutCancel(ctx)))
	<-ctx.Done()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	must.Nil(client.Stop(ending))
}

// staggered is due each period, not at once for all that share one.
type staggered struct{ period, offset time.Duration }

func (s staggered) Next(t time.Time) time.Time {
	return t.Add(-s.offset).Truncate(s.period).Add(s.period + s.offset)
}
