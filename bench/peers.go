package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// peers are the peers that this program runs as a process of its own; the first argument names one.
var peers = map[string]func(ctx context.Context, args []string){"river": runRiver, "dbos": runDBOS}

// peerGroups measure nextrun beside them.
func (b *bench) peerGroups() []group {
	peer := func(name, rows string, command []string) side {
		return side{name, b.peerBurst(1_000, time.Minute, rows, command)}
	}
	return []group{
		{
			name: "peers-at-once", rounds: 3, apart: true, around: installNode,
			sides: []side{
				{nextrun, b.burst(1_000, 1)},
				peer(dbosSide, "dbos.workflow_status", self("dbos")),
				peer(graphileSide, "graphile_worker._private_jobs", node("graphile")),
				peer(pgbossSide, "pgboss.job WHERE name = 'bench'", node("pgboss")),
			},
			figures: []figure{
				{"1,000 tasks due at once, first job committed", "ms", firstJob, "", graphileSide, aim{}},
				{"the same", "ms", firstJob, "", dbosSide, aim{}},
				{"the same", "ms", firstJob, "", pgbossSide, aim{}},
				{"1,000 tasks, all jobs committed", "ms", allJobs, "", graphileSide, aim{}},
				{"the same", "ms", allJobs, "", dbosSide, aim{}},
				{"the same", "ms", allJobs, "", pgbossSide, aim{}},
			},
		},
		{
			name: "peers-each-second", rounds: 3, apart: true, sides: []side{{nextrun, b.begun}, {dbosSide, b.dbosBegun}},
			figures: []figure{
				{"one task each second, due to handler begun, median", "ms", median, "", dbosSide, aim{}},
				{"the same, 99th percentile", "ms", late99, "", dbosSide, aim{}},
			},
		},
	}
}

// peerDatabase names the environment variable with the URL of a peer's database.
const peerDatabase = "DATABASE_URL"

// tasksDue reads the last two arguments of a peer: how many tasks there are, and when they are due, in seconds since 1970.
func tasksDue(args []string) (tasks int, due time.Time) {
	args = args[len(args)-2:]
	return must.Get(strconv.Atoi(args[0])), time.Unix(must.Get(strconv.ParseInt(args[1], 10, 64)), 0)
}

// self is the command of a peer that this program runs.
func self(args ...string) []string { return append([]string{must.Get(os.Executable())}, args...) }

// npm is where the packages of Node.js are that tests and this program run.
const npm = "../testdata/consumers/node/"

// node is the command of a peer that Node.js runs.
func node(kind string) []string {
	return []string{npm + "node_modules/.bin/node", npm + "schedules.js", kind}
}

// installNode installs Node.js and the packages, unless they are there, and goes on.
func installNode(ctx context.Context, measure func()) {
	if out, err := exec.CommandContext(ctx, npm+"install").CombinedOutput(); err != nil {
		panic(fmt.Errorf("install the peers that Node.js runs: %w: %s", err, out))
	}
	measure()
}

// withPeer runs fn beside a process of a peer, on a database of its own.
func (b *bench) withPeer(ctx context.Context, command []string, tasks int, due time.Time, fn func(db *sql.DB, p *process)) {
	url, drop := b.createDatabase(ctx)
	defer drop()
	db := must.Get(sql.Open("postgres", url))
	defer db.Close() //nolint:errcheck // nothing is left to write
	args := slices.Concat(command[1:], []string{strconv.Itoa(tasks), strconv.FormatInt(due.Unix(), 10)})
	p := start(ctx, []string{peerDatabase + "=" + url, "QUEUES=nobody"}, command[0], args...)
	defer p.stop()
	fn(db, p)
}

// peerBurst measures a peer with tasks that are all due at the same time, a multiple of step that is at least five seconds
// ahead. rows are its jobs, which nobody works off.
func (b *bench) peerBurst(tasks int, step time.Duration, rows string, command []string) func(context.Context) values {
	return func(ctx context.Context) (v values) {
		due := time.Now().Add(5 * time.Second).Truncate(step).Add(step)
		b.withPeer(ctx, command, tasks, due, func(db *sql.DB, p *process) {
			awaitTime(ctx, due, p.ended)
			awaitRows(ctx, db, rows, tasks, p.ended)
			v = committed(ctx, db, rows, fmt.Sprintf("to_timestamp(%d)", due.Unix()))
		})
		return v
	}
}
