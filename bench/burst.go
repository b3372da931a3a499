package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/nextrun/nextrun/bench/internal/measure"
)

// The figures of a burst.
const (
	firstJob   = "due to first job committed"
	allJobs    = "due to all jobs committed"
	peakMemory = "peak memory of the process"
)

var burstFigures = []figure{{firstJob, "ms", false}, {allJobs, "ms", false}, {peakMemory, "MiB", false}}

// bursts are tasks that are all due at the same time.
func (b *bench) bursts() []group {
	var list []group
	for _, tasks := range []int{1_000, 10_000, 100_000} {
		list = append(list, b.burstPostgres(tasks), burstSQLite(tasks))
	}
	return list
}

func (b *bench) burstPostgres(tasks int) group {
	g := group{
		name: fmt.Sprintf("burst-%d-postgresql", tasks), database: postgres, figures: burstFigures,
		about: "tasks due at the same time; beside one statement that claims, inserts and advances, and beside peers",
	}
	g.contenders = []contender{
		{ours, func(ctx context.Context) (values, error) { return b.burst(ctx, tasks, 1) }},
		{"one statement", func(ctx context.Context) (values, error) {
			return b.burstOf(ctx, tasks, func(_ string, db *measure.DB) error {
				_, err := db.Plain.Submit(ctx, 0)
				return err
			})
		}},
	}
	if tasks <= 10_000 {
		g.contenders = append(g.contenders, contender{"River", func(ctx context.Context) (values, error) { return b.riverBurst(ctx, tasks) }})
	}
	if tasks <= 1_000 {
		g.contenders = append(g.contenders, contender{"Docspell's five statements", func(ctx context.Context) (values, error) {
			return b.burstOf(ctx, tasks, func(url string, _ *measure.DB) error { return docspell(ctx, url) })
		}})
	}
	return g
}

// jobRows are the jobs of a burst, on PostgreSQL. Those of the past have ended.
const jobRows = "job WHERE tracker LIKE 'bench-%' AND state = 'waiting' AND retry IS NULL"

// burst measures processes of nextrun.
func (b *bench) burst(ctx context.Context, tasks, processes int) (v values, err error) {
	err = b.withPostgres(ctx, func(url string, db *measure.DB) error {
		if _, err := measure.AddBurst(ctx, db, tasks); err != nil {
			return err
		}
		v, err = b.schedule(ctx, url, tasks, processes)
		return err
	})
	return v, err
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

// burstOf measures something that begins when the tasks are due.
func (b *bench) burstOf(ctx context.Context, tasks int, submit func(url string, db *measure.DB) error) (v values, err error) {
	err = b.withPostgres(ctx, func(url string, db *measure.DB) error {
		due, err := measure.AddBurst(ctx, db, tasks)
		if err != nil {
			return err
		}
		if err := awaitTime(ctx, due, nil); err != nil {
			return err
		}
		if err := submit(url, db); err != nil {
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

// burstSQLite measures in this process, which sees when commits return.
func burstSQLite(tasks int) group {
	of := func(run func(context.Context, *measure.DB) (measure.Burst, error)) func(context.Context) (values, error) {
		return func(ctx context.Context) (v values, err error) {
			err = withSQLite(ctx, func(_ string, db *measure.DB) error {
				burst, err := run(ctx, db)
				v = values{firstJob: measure.Millis(burst.First)[0], allJobs: measure.Millis(burst.All)[0]}
				return err
			})
			return v, err
		}
	}
	return group{
		name: fmt.Sprintf("burst-%d-sqlite", tasks), database: sqlite, figures: burstFigures[:2],
		about: "tasks due at the same time; beside two statements for all, and for each 500",
		contenders: []contender{
			{ours, of(func(ctx context.Context, db *measure.DB) (measure.Burst, error) {
				return measure.RunBurst(ctx, db, tasks)
			})},
			{"two statements", of(func(ctx context.Context, db *measure.DB) (measure.Burst, error) {
				return measure.PlainBurst(ctx, db, tasks, 0)
			})},
			{"two statements for each 500", of(func(ctx context.Context, db *measure.DB) (measure.Burst, error) {
				return measure.PlainBurst(ctx, db, tasks, 500)
			})},
		},
	}
}

// schedulers are several processes that share a burst.
func (b *bench) schedulers() group {
	const tasks = 10_000
	g := group{
		name: "schedulers-postgresql", database: postgres, figures: burstFigures[:2],
		about: "a burst of 10,000 tasks, shared by 1, 2, 4 and 8 schedulers",
	}
	for _, n := range []int{1, 2, 4, 8} {
		name := fmt.Sprintf("%d schedulers", n)
		if n == 1 {
			name = ours
		}
		g.contenders = append(g.contenders, contender{name, func(ctx context.Context) (values, error) { return b.burst(ctx, tasks, n) }})
	}
	return g
}
