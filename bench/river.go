package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// peerCommand is the argument by which this program runs River's scheduler.
const peerCommand = "river-periodic"

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
func openRiver(ctx context.Context, url string, config river.Config) (*pgxpool.Pool, *river.Client[pgx.Tx], error) {
	conns, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	driver := riverpgxv5.New(conns)
	migrator, err := rivermigrate.New(driver, nil)
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err != nil {
		conns.Close()
		return nil, nil, err
	}
	config.Workers = river.NewWorkers()
	river.AddWorker(config.Workers, emptyWorker{})
	config.Logger = slog.New(slog.DiscardHandler)
	client, err := river.NewClient(driver, &config)
	if err != nil {
		conns.Close()
	}
	return conns, client, err
}

// runPeer is a process with River's periodic jobs: URL burst TASKS DUE, or URL steady TASKS. It ends with ctx.
func runPeer(ctx context.Context, args []string) error {
	if len(args) < 3 {
		return errors.New("usage: URL burst|steady TASKS [DUE]")
	}
	tasks, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	var due int64
	if args[1] == "burst" {
		if due, err = strconv.ParseInt(args[3], 10, 64); err != nil {
			return err
		}
	}
	jobs := make([]*river.PeriodicJob, tasks)
	make1 := func() (river.JobArgs, *river.InsertOpts) {
		return emptyArgs{"/srv/data", 7}, &river.InsertOpts{Queue: riverQueue}
	}
	for i := range jobs {
		var schedule river.PeriodicSchedule = once{time.Unix(due, 0)}
		if args[1] == "steady" {
			schedule = staggered{period(i), time.Duration(rand.Int64N(int64(period(i))))}
		}
		jobs[i] = river.NewPeriodicJob(schedule, make1, &river.PeriodicJobOpts{ID: fmt.Sprintf("bench-%d", i+1)})
	}
	conns, client, err := openRiver(ctx, args[0], river.Config{
		Queues: map[string]river.QueueConfig{"nobody": {MaxWorkers: 1}}, PeriodicJobs: jobs,
	})
	if err != nil {
		return err
	}
	defer conns.Close()
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	<-ctx.Done()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	return client.Stop(ending)
}

// staggered is due each period, not at once for all that share one.
type staggered struct{ period, offset time.Duration }

func (s staggered) Next(t time.Time) time.Time {
	return t.Add(-s.offset).Truncate(s.period).Add(s.period + s.offset)
}

// riverBurst measures a process with River's periodic jobs, all due at the same time.
func (b *bench) riverBurst(tasks int) func(context.Context) (values, error) {
	return func(ctx context.Context) (v values, err error) {
		url, drop, err := b.createDatabase(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, drop()) }()
		due := time.Now().Add(5 * time.Second).Truncate(time.Second)
		p, err := peer(ctx, url, "burst", strconv.Itoa(tasks), strconv.FormatInt(due.Unix(), 10))
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, p.stop()) }()
		if err := awaitTime(ctx, due, p.ended); err != nil {
			return nil, err
		}
		if err := awaitRows(ctx, url, "river_job", tasks, p.ended); err != nil {
			return nil, err
		}
		return committed(ctx, url, "river_job", fmt.Sprintf("to_timestamp(%d)", due.Unix()))
	}
}
