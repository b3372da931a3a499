package main

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
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

// watchPunctual has a scheduler submit a task that is due every second, and measures for 20 ticks how long after it was due each was
// committed. Other tasks are due at the same seconds; if there are any, an executor runs all jobs.
func watchPunctual(ctx context.Context, db *database, beside int) values {
	const first, count = 2, 20 // two until the scheduler has planned and warmed up
	db.plain.addTasks(ctx, 1, 1+beside, "*-*-* *:*:* UTC", "allow")
	if beside > 0 {
		defer execute(ctx, db, func() {}, func(executor.Event) {})()
	}
	seen := make(chan time.Duration, 10*count)
	defer schedule(ctx, db, func(e scheduler.Event) {
		if e.Kind == scheduler.EventTick && e.Tick.TaskID == "bench-1" {
			seen <- db.now().Sub(e.Tick.Due)
		}
	})()
	return spread(take(ctx, seen, first+count)[first:])
}
