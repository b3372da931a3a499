package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"github.com/nextrun/nextrun/bench/internal/must"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

const (
	jobsRun  = "jobs run" // the value of an executor
	execJobs = 20_000
	pool     = 50 // how many jobs run at a time
)

// executor has jobs with an empty handler run. run says how long that took.
func (b *bench) executor(kind string, run func(context.Context, *database) time.Duration) func(context.Context) values {
	return func(ctx context.Context) (v values) {
		b.with(ctx, kind, func(db *database) {
			queue := jobqueue.NewQueue(db.Jobs())
			for left := execJobs; left > 0; left -= 5000 {
				jobs := make([]jobqueue.Job, min(left, 5000))
				for i := range jobs {
					jobs[i] = jobqueue.Job{Task: "bench"}
				}
				must.Get(queue.Submit(ctx, jobs...))
			}
			v = values{jobsRun: execJobs / run(ctx, db).Seconds()}
		})
		return v
	}
}

// runJobs has an executor of this process run the jobs.
func runJobs(ctx context.Context, db *database) time.Duration {
	begun := time.Now()
	ended := make(chan time.Duration, execJobs)
	defer execute(ctx, db, func(jobqueue.Job) {}, func(e executor.Event) {
		if e.Kind == executor.EventEnded {
			ended <- time.Since(begun)
		}
	})()
	return take(ctx, ended, execJobs)[execJobs-1]
}

// runPlainJobs claims and ends the jobs with two statements for each pool of them.
func runPlainJobs(ctx context.Context, db *database) time.Duration {
	begun := time.Now()
	if n := db.plain.runJobs(ctx, pool); n != execJobs {
		panic(fmt.Errorf("plain SQL ran %d of %d jobs", n, execJobs))
	}
	return time.Since(begun)
}

// pickup submits jobs one by one to an executor that has nothing else to do, and measures how long after the commit each handler began.
func (b *bench) pickup(kind string) func(context.Context) values {
	return func(ctx context.Context) (v values) {
		b.with(ctx, kind, func(db *database) {
			began, ended := make(chan time.Time, 1), make(chan bool, 1)
			defer execute(ctx, db, func(jobqueue.Job) { began <- time.Now() }, func(e executor.Event) {
				if e.Kind == executor.EventEnded {
					ended <- true
				}
			})()
			queue := jobqueue.NewQueue(db.Jobs())
			var took []time.Duration
			for range 200 {
				must.Get(queue.Submit(ctx, jobqueue.Job{Task: "bench"}))
				committed := time.Now()
				took = append(took, max(0, take(ctx, began, 1)[0].Sub(committed)))
				take(ctx, ended, 1)
			}
			v = spread(took)
		})
		return v
	}
}

// execute starts an executor that says nothing. stop waits for its end.
func execute(ctx context.Context, db *database, handle func(jobqueue.Job), observe func(executor.Event)) (stop func()) {
	e := must.Get(executor.New(db.Jobs(), executor.Config{Name: "bench", PoolSize: pool, Logger: slog.New(slog.DiscardHandler), Observe: observe}))
	e.Register("bench", func(_ context.Context, job *jobqueue.JobContext) error { handle(job.Job); return nil })
	must.Nil(e.Start(ctx))
	return func() { must.Nil(e.Stop(context.WithoutCancel(ctx))) }
}

// riverJobs measures River's client with the same pool and its shortest cooldown.
func (b *bench) riverJobs(ctx context.Context) values {
	url, drop := b.createDatabase(ctx)
	defer drop()
	conns, client := openRiver(ctx, url, river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: pool}}, FetchCooldown: time.Millisecond,
	})
	defer conns.Close()
	for left := execJobs; left > 0; left -= 5000 {
		params := make([]river.InsertManyParams, min(left, 5000))
		for i := range params {
			params[i].Args = emptyArgs{}
		}
		must.Get(client.InsertManyFast(ctx, params))
	}
	events, cancel := client.SubscribeConfig(&river.SubscribeConfig{ChanSize: execJobs, Kinds: []river.EventKind{river.EventKindJobCompleted}})
	defer cancel()
	begun := time.Now()
	must.Nil(client.Start(ctx))
	take(ctx, events, execJobs)
	took := time.Since(begun)
	must.Nil(client.Stop(ctx))
	return values{jobsRun: execJobs / took.Seconds()}
}
