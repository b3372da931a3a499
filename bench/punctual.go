package main

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// The values of what happens again and again in a round.
const (
	median = "median"
	late99 = "99th percentile"
)

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// spread are the values of durations.
func spread(list []time.Duration) values {
	var ms []float64
	for _, d := range slices.Sorted(slices.Values(list)) {
		ms = append(ms, millis(d))
	}
	return values{median: middle(ms), late99: ms[len(ms)*99/100]}
}

// punctual is a task that is due every second beside so many others, as the program sees it that submits them.
func (b *bench) punctual(kind string, beside int) func(context.Context) values {
	return func(ctx context.Context) (v values) {
		b.with(ctx, kind, func(db *database) { v = watchPunctual(ctx, db, beside) })
		return v
	}
}

// oldSnapshot is punctual while another session keeps a snapshot that is older than all ticks, as pg_dump does: no row that
// was replaced since can be removed.
func (b *bench) oldSnapshot(ctx context.Context) (v values) {
	b.withPostgres(ctx, func(db *database) {
		tx := must.Get(db.plain.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}))
		defer tx.Rollback() //nolint:errcheck // that is its end
		var n int
		must.Nil(tx.QueryRowContext(ctx, "SELECT count(*) FROM periodic_task").Scan(&n))
		v = watchPunctual(ctx, db, 300)
	})
	return v
}

// watchPunctual has a scheduler submit a task that is due every second, and measures how long after it was due each was
// committed. Other tasks are due at the same seconds; if there are any, an executor runs all jobs.
func watchPunctual(ctx context.Context, db *database, beside int) values {
	db.plain.addTasks(ctx, 1, 1+beside, "*-*-* *:*:* UTC", "allow")
	if beside > 0 {
		defer execute(ctx, db, func(jobqueue.Job) {}, func(executor.Event) {})()
	}
	seen := make(chan time.Duration, 10*punctualTicks)
	defer schedule(ctx, db, func(e scheduler.Event) {
		if e.Kind == scheduler.EventTick && e.Tick.TaskID == "bench-1" {
			seen <- db.now().Sub(e.Tick.Due)
		}
	})()
	return eachSecond(ctx, seen)
}

// begun is a task that is due every second, until its handler begins.
func (b *bench) begun(ctx context.Context) (v values) {
	b.withPostgres(ctx, func(db *database) {
		db.plain.addTasks(ctx, 1, 1, "*-*-* *:*:* UTC", "allow")
		seen := make(chan time.Duration, 10*punctualTicks)
		defer execute(ctx, db, func(job jobqueue.Job) { seen <- db.now().Sub(job.Due) }, func(executor.Event) {})()
		defer schedule(ctx, db, func(scheduler.Event) {})()
		v = eachSecond(ctx, seen)
	})
	return v
}

// punctualTicks is how many ticks are measured of what is due every second.
const punctualTicks = 20

// eachSecond are the values of such ticks but the first two: until then a scheduler has planned and warmed up.
func eachSecond(ctx context.Context, seen <-chan time.Duration) values {
	return spread(take(ctx, seen, 2+punctualTicks)[2:])
}
