package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// The steady state: tasks between one second and one hour, evenly on a logarithmic scale, which is 1,540 ticks a second of
// 10,000 tasks.
const (
	steadyTasks  = 10_000
	steadyKinds  = 200              // different periods
	steadyWarm   = 15 * time.Second // a session that falls idle tells the server after ten seconds what it has changed
	steadyWindow = 20 * time.Second
)

// period is that of the i-th task.
func period(i int) time.Duration {
	share := (float64(i%steadyKinds) + 0.5) / steadyKinds
	return max(time.Second, time.Duration(math.Pow(3600, share))*time.Second)
}

// The values of the steady state.
const (
	ticksSecond = "ticks"
	cpuProcess  = "processor time of the process"
	cpuServer   = "processor time of the server"
	walTick     = "WAL"
	deadTick    = "rows"
)

func (b *bench) steadyOurs(ctx context.Context) (v values) {
	b.withPostgres(ctx, func(db *database) {
		for i := range steadyKinds {
			each := steadyTasks / steadyKinds
			timer := fmt.Sprintf("every %ds from 2026-01-01T00:00:%02dZ", int(period(i).Seconds()), i%60)
			db.plain.addTasks(ctx, i*each+1, (i+1)*each, timer, "allow")
		}
		db.plain.analyze(ctx)
		p := b.scheduler(ctx, db.url, "bench")
		defer p.stop()
		v = watchSteady(ctx, db.plain.DB, "job", p)
	})
	return v
}

func (b *bench) steadyRiver(ctx context.Context) (v values) {
	b.withPeer(ctx, self("river", "steady"), steadyTasks, time.Now(), func(db *sql.DB, p *process) {
		v = watchSteady(ctx, db, "river_job", p)
	})
	return v
}

// state is what changes while a process is watched.
type state struct {
	jobs, wal, changed float64
	inserted           float64 // jobs, as the server counts them together with what has changed: later
	cpu                time.Duration
	hasCPU             bool
	server             map[int]time.Duration // of connections to the database, if the server is on this machine
	at                 time.Time
}

// watchSteady watches a process that submits jobs into a table.
func watchSteady(ctx context.Context, db *sql.DB, table string, p *process) values {
	db.SetMaxOpenConns(1) // its own cost is left out of that of the server
	awaitTime(ctx, time.Now().Add(steadyWarm), p.ended)
	before := look(ctx, db, table, p)
	awaitTime(ctx, time.Now().Add(steadyWindow), p.ended)
	after := look(ctx, db, table, p)
	ticks, seconds := after.jobs-before.jobs, after.at.Sub(before.at).Seconds()
	if ticks <= 0 {
		panic(errors.New("no job was committed while it was watched"))
	}
	v := values{ticksSecond: ticks / seconds, walTick: (after.wal - before.wal) / ticks, deadTick: (after.changed - before.changed) / (after.inserted - before.inserted)}
	if cpu := after.cpu - before.cpu; before.hasCPU && after.hasCPU {
		v[cpuProcess] = float64(cpu.Microseconds()) / ticks
	}
	if cpu := grown(before.server, after.server); cpu > 0 {
		v[cpuServer] = float64(cpu.Microseconds()) / ticks
	}
	return v
}

// grown is the processor time that processes have used meanwhile; that of those which ended is not known.
func grown(before, after map[int]time.Duration) (sum time.Duration) {
	for pid, cpu := range after {
		sum += cpu - before[pid]
	}
	return sum
}

// look reads the counters of the server, which it writes about once a second.
func look(ctx context.Context, db *sql.DB, table string, p *process) (s state) {
	s.cpu, s.hasCPU = cpuOf(p.command.Process.Pid)
	s.server = serverCPU(ctx, db)
	s.at = time.Now()
	must.Nil(db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM `+table+`), pg_current_wal_insert_lsn() - '0/0'::pg_lsn,
		(SELECT coalesce(sum(n_tup_upd + n_tup_del), 0) FROM pg_stat_user_tables), (SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = $1)`,
		table).Scan(&s.jobs, &s.wal, &s.changed, &s.inserted))
	return s
}

// serverCPU is the processor time of the server's processes for the other connections to this database.
func serverCPU(ctx context.Context, db *sql.DB) map[int]time.Duration {
	rows := must.Get(db.QueryContext(ctx, "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"))
	defer rows.Close() //nolint:errcheck // Err tells
	used := map[int]time.Duration{}
	for rows.Next() {
		var pid int
		must.Nil(rows.Scan(&pid))
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if cpu, ok := cpuOf(pid); ok && err == nil && strings.HasPrefix(string(name), "postgres") {
			used[pid] = cpu
		}
	}
	must.Nil(rows.Err())
	return used
}
