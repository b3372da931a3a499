package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/bench/internal/measure"
)

// sizeBurst are the tasks that are due, whatever else is in the tables.
const sizeBurst = 1_000

// size is how much is in the tables.
type size struct{ tasks, finished int }

func (s size) String() string {
	return fmt.Sprintf("among %s tasks, %s finished jobs and ticks", grouped(s.tasks), grouped(s.finished))
}

func grouped(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%d,000,000", n/1_000_000)
	case n >= 1_000:
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return fmt.Sprint(n)
}

// sizes are a burst of 1,000 tasks in tables of several sizes, compared with the smallest.
func (b *bench) sizes() []group {
	var list []group
	for _, finished := range []int{0, 5_000_000} {
		for _, tasks := range []int{100_000, 1_000_000} {
			list = append(list, b.size(size{tasks, finished}))
		}
	}
	return append(list, b.size(size{1_000, 5_000_000}))
}

func (b *bench) size(s size) group {
	small := &sized{b: b, size: size{tasks: 1_000}}
	large := &sized{b: b, size: s}
	return group{
		name: fmt.Sprintf("size-%d-%d", s.tasks, s.finished), database: postgres, figures: burstFigures,
		about: "a burst of 1,000 tasks among others, in tables that hold finished jobs and ticks",
		contenders: []contender{
			{ours, large.measure},
			{"nextrun " + small.String(), small.measure},
		},
		end: func() { small.remove(); large.remove() },
	}
}

// sized is a database that is filled once and then measured in each round.
type sized struct {
	size
	b    *bench
	url  string
	drop func() error
}

func (s *sized) remove() {
	if s.drop != nil {
		_ = s.drop() // the server goes, too
	}
}

func (s *sized) measure(ctx context.Context) (values, error) {
	if s.url == "" {
		if err := s.fill(ctx); err != nil {
			return nil, err
		}
	}
	due := time.Now().UTC().Add(4 * time.Second).Truncate(time.Second)
	at := due.Format("2006-01-02 15:04:05")
	err := execute(ctx, s.url,
		"UPDATE job SET state = 'success', finished = now() AT TIME ZONE 'UTC', tracker = 'done-' || jid WHERE state = 'waiting'",
		fmt.Sprintf("UPDATE periodic_task SET timer = '%s UTC', due = '%s', nextrun = '%s' WHERE id IN (SELECT 'bench-' || n FROM generate_series(1, %d) AS n)",
			due.Format("15:04:05"), at, at, sizeBurst))
	if err != nil {
		return nil, err
	}
	if time.Until(due) < time.Second {
		return nil, errors.New("making the tasks due took too long")
	}
	return s.b.schedule(ctx, s.url, sizeBurst, 1)
}

// fill makes the database. Triggers would look at each of the rows, which are as they leave them.
func (s *sized) fill(ctx context.Context) (err error) {
	if s.url, s.drop, err = s.b.createDatabase(ctx); err != nil {
		return err
	}
	if err := withTables(ctx, s.url, func(string, *measure.DB) error { return nil }); err != nil {
		return err
	}
	const asReplica = "BEGIN; SET LOCAL session_replication_role = replica; "
	err = execute(ctx, s.url,
		asReplica+fmt.Sprintf(`INSERT INTO periodic_task (id, task, timer, args, due, nextrun)
			SELECT 'bench-' || n, 'bench', 'yearly', '{"path": "/srv/data", "keep": 7}', t, t
			FROM generate_series(1, %d) AS n, LATERAL (SELECT date_trunc('second', now() AT TIME ZONE 'UTC' + interval '1 hour' + n * interval '86 milliseconds') AS t) AS x; COMMIT`, s.tasks),
		asReplica+fmt.Sprintf(`INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, worker, tracker, due, started, finished)
			SELECT 'old-' || n, 'bench', 'bench', '{"path": "/srv/data", "keep": 7}', 'bench', t, 'bench', 1, 'success', 0, 100, 'bench', 'bench-' || n %% %d, t, t, t
			FROM generate_series(1, %d) AS n, LATERAL (SELECT now() AT TIME ZONE 'UTC' - n * interval '518 milliseconds' AS t) AS x; COMMIT`, s.tasks, s.finished),
		asReplica+fmt.Sprintf(`INSERT INTO periodic_tick (task_id, due, decision, jid, worker, decided)
			SELECT 'bench-' || n %% %d, t, 'submitted', 'old-' || n, 'bench', t
			FROM generate_series(1, %d) AS n, LATERAL (SELECT now() AT TIME ZONE 'UTC' - n * interval '518 milliseconds' AS t) AS x; COMMIT`, s.tasks, s.finished),
		"VACUUM ANALYZE", "CHECKPOINT")
	return err
}

// plans are new rows that a scheduler plans.
func (b *bench) plans() group {
	const tasks = 100_000
	const planned = "new tasks planned"
	return group{
		name: "plan-postgresql", database: postgres, about: "100,000 new tasks, until they have a next run",
		figures: []figure{{planned, "tasks/s", true}, {peakMemory, "MiB", false}},
		contenders: []contender{{ours, func(ctx context.Context) (v values, err error) {
			err = b.withPostgres(ctx, func(url string, db *measure.DB) (err error) {
				if err := db.Plain.AddSteady(ctx, 1, tasks, "*-*-* 03:00 UTC"); err != nil {
					return err
				}
				if err := db.Plain.Analyze(ctx); err != nil {
					return err
				}
				begun := time.Now()
				p, err := b.scheduler(ctx, url, "bench")
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, p.stop()) }()
				if err := awaitRows(ctx, url, "periodic_task WHERE due IS NOT NULL AND id LIKE 'bench-%'", tasks, p.ended); err != nil {
					return err
				}
				v = values{planned: tasks / time.Since(begun).Seconds()}
				if mib, ok := p.memory(); ok {
					v[peakMemory] = mib
				}
				return nil
			})
			return v, err
		}}},
	}
}
