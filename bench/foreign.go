package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/riverqueue/river"

	"github.com/nextrun/nextrun/bench/internal/measure"
)

// foreignTasks are the tasks of a burst into River's queue.
const foreignTasks = 10_000

// foreign is a burst whose jobs go to River, beside one transaction that does the same writes.
func (b *bench) foreign() group {
	return group{
		name: "burst-10000-river", database: postgres, figures: burstFigures,
		about: "tasks due at the same time whose queue is River's; beside one transaction of plain SQL with River's own insert, and River's periodic jobs",
		contenders: []contender{
			{ours, func(ctx context.Context) (values, error) { return b.intoRiver(ctx, b.scheduleRiver) }},
			{"one transaction", func(ctx context.Context) (values, error) { return b.intoRiver(ctx, plainRiver) }},
			{"River", func(ctx context.Context) (values, error) { return b.riverBurst(ctx, foreignTasks) }},
		},
	}
}

// intoRiver adds tasks of which River runs the jobs, has them submitted when they are due, and says when that was committed.
func (b *bench) intoRiver(ctx context.Context, submit func(ctx context.Context, url string, due time.Time) (values, error)) (v values, err error) {
	err = b.withPostgres(ctx, func(url string, db *measure.DB) error {
		conns, _, err := openRiver(ctx, url, river.Config{})
		if err != nil {
			return err
		}
		conns.Close()
		due, err := measure.AddBurst(ctx, db, foreignTasks)
		if err != nil {
			return err
		}
		if err := execute(ctx, url, "UPDATE periodic_task SET sink = 'river', task = 'empty'", "VACUUM ANALYZE periodic_task"); err != nil {
			return err
		}
		more, err := submit(ctx, url, due)
		if err != nil {
			return err
		}
		if v, err = committed(ctx, url, "river_job", "scheduled_at"); err == nil {
			for name, value := range more {
				v[name] = value
			}
		}
		return err
	})
	return v, err
}

// scheduleRiver starts a scheduler of nextrun that feeds River.
func (b *bench) scheduleRiver(ctx context.Context, url string, _ time.Time) (v values, err error) {
	dir, err := os.MkdirTemp("", "nextrun-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a file in the folder of temporary ones
	config := filepath.Join(dir, "nextrun.yaml")
	if err := os.WriteFile(config, []byte("queues: {river: {type: river, queue: "+riverQueue+"}}\n"), 0o600); err != nil {
		return nil, err
	}
	p, err := b.scheduler(ctx, url, "bench", "--config", config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := awaitRows(ctx, url, "river_job", foreignTasks, p.ended); err != nil {
		return nil, err
	}
	v = values{}
	if mib, ok := p.memory(); ok {
		v[peakMemory] = mib
	}
	return v, nil
}

// plainRiver writes all that nextrun writes, in one transaction of plain SQL: the plan, the ticks, the jobs with the columns that
// River's own insert writes, and which job each task has.
func plainRiver(ctx context.Context, url string, due time.Time) (values, error) {
	if err := awaitTime(ctx, due, nil); err != nil {
		return nil, err
	}
	return nil, execute(ctx, url, `WITH due AS MATERIALIZED (
			SELECT id FROM periodic_task WHERE enabled AND worker IS NULL AND nextrun > '2000-01-01' AND nextrun <= clock_timestamp() AT TIME ZONE 'UTC'
			ORDER BY nextrun FOR UPDATE SKIP LOCKED),
		advanced AS (UPDATE periodic_task AS t SET due = t.due + interval '1 day', nextrun = t.nextrun + interval '1 day'
			FROM due WHERE t.id = due.id RETURNING t.id, t.task, t.args, t.due - interval '1 day' AS due, gen_random_uuid()::text AS jid),
		ticks AS (INSERT INTO periodic_tick (task_id, due, decision, missed, jid, worker, decided)
			SELECT id, due, 'submitted', 0, jid, 'bench', now() AT TIME ZONE 'UTC' FROM advanced),
		jobs AS (INSERT INTO river_job (args, kind, max_attempts, metadata, priority, queue, scheduled_at, state, tags, unique_key, unique_states)
			SELECT args::jsonb, task, 25, jsonb_build_object('nextrun', jsonb_build_object('task', id, 'due', due, 'jid', jid)), 4, '`+riverQueue+`',
				due AT TIME ZONE 'UTC', 'available', '{}', sha256(convert_to('nextrun:' || id, 'UTF8')), 241::bit(8) FROM advanced
			ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL AND unique_states IS NOT NULL AND river_job_state_in_bitmask(unique_states, state)
				DO UPDATE SET kind = EXCLUDED.kind RETURNING id, metadata)
		INSERT INTO periodic_open (task_id, sink, ref, jid, due, submitted, look)
			SELECT metadata #>> '{nextrun,task}', 'river', id, metadata #>> '{nextrun,jid}', (metadata #>> '{nextrun,due}')::timestamp, now() AT TIME ZONE 'UTC',
				now() AT TIME ZONE 'UTC'
			FROM jobs`)
}
