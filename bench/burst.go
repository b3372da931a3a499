package main

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// The values of a burst: tasks that are all due at the same time.
const (
	firstJob   = "first job"
	allJobs    = "all jobs"
	peakMemory = "memory"
)

// burst measures processes of nextrun.
func (b *bench) burst(tasks, processes int) func(context.Context) values {
	return func(ctx context.Context) (v values) {
		b.withPostgres(ctx, func(db *database) { v = b.burstIn(ctx, db, tasks, processes, "job") })
		return v
	}
}

// burstIn is burst in a database. rows are the jobs of the burst.
func (b *bench) burstIn(ctx context.Context, db *database, tasks, processes int, rows string) values {
	addBurst(ctx, db, tasks)
	running := make([]*process, processes)
	defer func() {
		for _, p := range running {
			p.stop()
		}
	}()
	for i := range running {
		running[i] = b.scheduler(ctx, db.url, "bench-"+strconv.Itoa(i))
	}
	first := running[0]
	awaitRows(ctx, db.plain.DB, rows, tasks, first.ended)
	v := committed(ctx, db.plain.DB, rows, "due AT TIME ZONE 'UTC'")
	if mib, ok := first.memory(); ok {
		v[peakMemory] = mib
	}
	return v
}

// plainBurst measures the one statement that claims, inserts and advances, and records nothing.
func (b *bench) plainBurst(tasks int) func(context.Context) values {
	return func(ctx context.Context) (v values) {
		b.withPostgres(ctx, func(db *database) {
			awaitTime(ctx, addBurst(ctx, db, tasks), nil)
			db.plain.submit(ctx)
			awaitRows(ctx, db.plain.DB, "job", tasks, nil)
			v = committed(ctx, db.plain.DB, "job", "due AT TIME ZONE 'UTC'")
		})
		return v
	}
}

// inProcess measures a burst on SQLite in this process, which sees when commits return. run says how long after they were due.
func inProcess(run func(ctx context.Context, db *database, tasks int) (first, all time.Duration)) func(context.Context) values {
	return func(ctx context.Context) (v values) {
		withSQLite(ctx, func(db *database) {
			first, all := run(ctx, db, 10_000)
			v = values{firstJob: millis(first), allJobs: millis(all)}
		})
		return v
	}
}

// runBurst has a scheduler of this process submit so many tasks, which are due at the same time.
func runBurst(ctx context.Context, db *database, tasks int) (first, all time.Duration) {
	due := addBurst(ctx, db, tasks)
	seen := make(chan time.Duration, tasks)
	defer schedule(ctx, db, func(e scheduler.Event) {
		if e.Kind == scheduler.EventTick {
			seen <- db.now().Sub(due)
		}
	})()
	list := take(ctx, seen, tasks)
	return list[0], list[tasks-1]
}

// runPlainBurst submits such tasks with plain statements in one transaction.
func runPlainBurst(ctx context.Context, db *database, tasks int) (first, all time.Duration) {
	due := addBurst(ctx, db, tasks)
	awaitTime(ctx, due, nil)
	for left := tasks; left > 0; {
		n := db.plain.submit(ctx)
		left -= n
		if n == 0 && db.now().Sub(due) > 10*time.Second { // what is known of the database's clock is an estimate: it may not be time yet
			panic(fmt.Errorf("plain SQL submitted %d of %d tasks", tasks-left, tasks))
		}
	}
	took := db.now().Sub(due)
	return took, took
}

// addBurst adds tasks to a database, all due at a whole second that is some seconds ahead, two at least.
func addBurst(ctx context.Context, db *database, tasks int) (due time.Time) {
	const between = 2 * time.Second
	ahead := between + time.Second + time.Duration(tasks)*100*time.Microsecond
	for range 4 { // a machine may be slower than thought
		due = db.now().Add(ahead).Truncate(time.Second).Add(time.Second)
		db.plain.addBurst(ctx, tasks, due)
		if db.now().Add(between).Before(due) {
			return due
		}
		db.plain.exec(ctx, "DELETE FROM periodic_task WHERE "+benchTasks)
		ahead *= 3
	}
	panic(fmt.Errorf("adding %d tasks took longer than %s", tasks, ahead))
}

// schedule starts a scheduler that says nothing. stop waits for its end.
func schedule(ctx context.Context, db *database, observe func(scheduler.Event)) (stop func()) {
	s := must.Get(scheduler.New(db.Periodic(), scheduler.Config{Name: "bench", Logger: slog.New(slog.DiscardHandler), Observe: observe}))
	must.Nil(s.Start(ctx))
	return func() { must.Nil(s.Stop(context.WithoutCancel(ctx))) }
}

// take takes a number of things that happen.
func take[T any](ctx context.Context, from <-chan T, count int) (list []T) {
	for range count {
		select {
		case one := <-from:
			list = append(list, one)
		case <-ctx.Done():
			panic(ctx.Err())
		}
	}
	return list
}
