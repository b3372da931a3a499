package main

import (
	"context"
	"maps"
)

// million is a database with 1,000,000 tasks, of which none is due while it is measured, and what they have left behind: 2,500,000
// ticks, each with its job.
type million struct {
	*bench
	full *database
}

// millionGroups measure with a million tasks.
func (b *bench) millionGroups() []group {
	m := &million{bench: b}
	return []group{
		{
			name: "million-old-rows", rounds: 3, apart: true, around: m.fill,
			sides: []side{{nextrun, m.amongOthers}, {emptyDatabase, m.alone}},
			figures: []figure{
				{"1,000 tasks due at once among 1,000,000 and 5,000,000 old rows, first job committed", "ms", firstJob, "", emptyDatabase, aim{}},
				{"the same, all jobs committed", "ms", allJobs, "", emptyDatabase, aim{}},
				{"peak memory of the scheduler", "MiB", peakMemory, "", emptyDatabase, aim{}},
				{"one task each second among them, due to committed, median", "ms", median, "", emptyDatabase, aim{}},
				{"the same, 99th percentile", "ms", late99, "", emptyDatabase, aim{}},
			},
		},
		{
			name: "million-at-once", rounds: 1, apart: true, sides: []side{{nextrun, b.burst(1_000_000, 1)}},
			figures: []figure{
				{"1,000,000 tasks due at once, first job committed", "ms", firstJob, "", "", aim{}},
				{"1,000,000 tasks, all jobs committed", "ms", allJobs, "", "", aim{}},
				{"peak memory of the scheduler for 1,000,000 tasks", "MiB", peakMemory, "", "", aim{}},
			},
		},
	}
}

// fill makes the database, and goes on.
func (m *million) fill(ctx context.Context, measure func()) {
	m.withPostgres(ctx, func(db *database) {
		m.full = db
		for _, statement := range []string{
			"ALTER TABLE periodic_task DISABLE TRIGGER USER", // it would look at the values of each row
			`INSERT INTO periodic_task (id, task, timer, args, due, nextrun)
				SELECT 'old-' || n, 'bench', to_char(at, 'HH24:MI:SS') || ' UTC', '{"path": "/srv/data", "keep": 7}', at, at
				FROM (SELECT n, date_trunc('day', now() AT TIME ZONE 'UTC') + make_interval(days => 2, secs => n % 86400) AS at
					FROM generate_series(1, 1000000) AS s(n)) AS t`,
			"ALTER TABLE periodic_task ENABLE TRIGGER USER",
			`INSERT INTO periodic_tick (task_id, due, decision, jid, worker, decided)
				SELECT t.id, at, 'submitted', gen_random_uuid(), 'bench', at
				FROM periodic_task AS t, generate_series(1, 3) AS d(days), LATERAL (SELECT t.due - make_interval(days => 2 + days) AS at) AS a
				ORDER BY at LIMIT 2500000`,
			`INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, tracker,
					worker, started, finished, due, single)
				SELECT jid, 'bench', '', '{"path": "/srv/data", "keep": 7}', '', due, '', 5, 'success', 0, 100, task_id,
					'bench', due, due, due, true
				FROM periodic_tick ORDER BY due`,
			"VACUUM ANALYZE", "CHECKPOINT",
		} {
			db.plain.exec(ctx, statement)
		}
		measure()
	})
}

// amongOthers measures the full database, and leaves it as it was but for what is over.
func (m *million) amongOthers(ctx context.Context) values {
	defer m.full.plain.exec(ctx, "DELETE FROM job WHERE "+waiting)
	defer m.full.plain.exec(ctx, "DELETE FROM periodic_task WHERE "+benchTasks)
	return m.burstThenSeconds(ctx, m.full)
}

// alone measures an empty database.
func (m *million) alone(ctx context.Context) (v values) {
	m.withPostgres(ctx, func(db *database) { v = m.burstThenSeconds(ctx, db) })
	return v
}

// burstThenSeconds measures a burst, and then a task that is due every second.
func (m *million) burstThenSeconds(ctx context.Context, db *database) values {
	v := m.burstIn(ctx, db, 1_000, 1, "job WHERE "+waiting)
	db.plain.exec(ctx, "DELETE FROM periodic_task WHERE "+benchTasks)
	maps.Copy(v, watchPunctual(ctx, db, 0))
	return v
}
