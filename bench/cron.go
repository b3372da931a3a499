package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"
)

// crons are the schedulers of Graphile Worker and pg-boss, which know full minutes. A round waits for one.
func (b *bench) crons() []group {
	if b.node == "" {
		return nil
	}
	const tasks = 1_000
	return []group{{
		name: "cron-1000-postgresql", database: postgres, figures: burstFigures,
		about: "1,000 tasks due at a full minute; beside the cron of Graphile Worker and of pg-boss",
		contenders: []contender{
			{ours, func(ctx context.Context) (values, error) { return b.burst(ctx, tasks, 1) }},
			{"Graphile Worker", func(ctx context.Context) (values, error) {
				return b.nodeCron(ctx, "graphile", tasks, "graphile_worker._private_jobs WHERE run_at =")
			}},
			{"pg-boss", func(ctx context.Context) (values, error) {
				return b.nodeCron(ctx, "pgboss", tasks, "pgboss.job WHERE name = 'bench' AND created_on >=")
			}},
		},
	}}
}

// nodeCron measures a peer that runs in Node.js. rows are its jobs, up to the minute at which they are due.
func (b *bench) nodeCron(ctx context.Context, which string, tasks int, rows string) (v values, err error) {
	url, drop, err := b.createDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	env := []string{"DATABASE_URL=" + url, "TASKS=" + strconv.Itoa(tasks), "QUEUES=bench"}
	p, err := start(ctx, env, filepath.Join(b.node, "node_modules", ".bin", "node"), filepath.Join(b.node, "cron.js"), which)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	due := time.Now().Truncate(time.Minute).Add(time.Minute)
	if err := awaitTime(ctx, due, p.ended); err != nil {
		return nil, err
	}
	at := fmt.Sprintf("to_timestamp(%d)", due.Unix())
	if err := awaitRows(ctx, url, rows+" "+at, tasks, p.ended); err != nil {
		return nil, err
	}
	if v, err = committed(ctx, url, rows+" "+at, at); err != nil {
		return nil, err
	}
	if mib, ok := p.memory(); ok {
		v[peakMemory] = mib
	}
	return v, nil
}

// ready waits until the process says that it is.
func (p *process) ready(ctx context.Context) error {
	for !bytes.Contains(p.told.Bytes(), []byte(`"ready"`)) {
		select {
		case err := <-p.ended:
			return fmt.Errorf("the process ended: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}
