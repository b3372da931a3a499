package consumers_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// River on PostgreSQL, which a notification wakes, and on SQLite, where its
// worker polls.
var (
	riverPostgres = queue{
		sink: "river", database: storetest.Postgres, config: "{type: river}",
		program:    func(t testing.TB) []string { return []string{program.Build(t, ".", "./river")} },
		env:        []string{"QUEUES=default,mail"},
		groups:     []string{"default", "mail"}, // River's queues
		poll:       10 * time.Second,
		unfinished: "SELECT args->>'task' AS task FROM river_job WHERE state NOT IN ('cancelled', 'completed', 'discarded')",
		cancelled:  "SELECT metadata->'nextrun'->>'jid' FROM river_job WHERE state = 'cancelled'",
		kept:       "SELECT args->>'task' AS task, metadata->'nextrun'->>'due' AS due FROM river_job",
	}
	riverSQLite = queue{
		sink: "river", database: storetest.SQLite, config: "{type: river}",
		program:    riverPostgres.program,
		env:        riverPostgres.env,
		groups:     riverPostgres.groups,
		poll:       100 * time.Millisecond,
		unfinished: riverPostgres.unfinished,
		cancelled:  riverPostgres.cancelled,
		kept:       riverPostgres.kept,
	}
)

func TestRiver(t *testing.T) {
	t.Parallel()
	for _, q := range []queue{riverPostgres, riverSQLite} {
		t.Run(q.database, func(t *testing.T) { t.Parallel(); prove(t, q) })
	}
}

// The queue apart is a partition of the table of jobs.
var pgBoss = queue{
	sink: "boss", database: storetest.Postgres, config: "{type: pg-boss}",
	program:    nodeWorker("worker-pgboss.js"),
	env:        []string{"QUEUES=proof,apart=partition", "CONCURRENCY=50"},
	poll:       10 * time.Second,
	unfinished: "SELECT data->>'task' AS task FROM pgboss.job WHERE state IN ('created', 'retry', 'active')",
	cancelled:  "SELECT id FROM pgboss.job WHERE state = 'cancelled'",
	kept:       "SELECT data->>'task' AS task, start_after AS due FROM pgboss.job WHERE name NOT LIKE '\\_\\_%'",
}

func TestPgBoss(t *testing.T) {
	t.Parallel()
	prove(t, pgBoss)
}

// The oldest release whose tables nextrun knows.
func TestPgBossOldest(t *testing.T) {
	t.Parallel()
	proveBurst(t, released(pgBoss, "12.26"))
}

// Graphile Worker deletes jobs that have ended.
var graphile = queue{
	sink: "workers", database: storetest.Postgres, config: "{type: graphile-worker}",
	program:    nodeWorker("worker-graphile.js"),
	env:        []string{"QUEUES=proof", "CONCURRENCY=100"},
	poll:       10 * time.Second,
	unfinished: "SELECT payload->>'task' AS task FROM graphile_worker._private_jobs WHERE locked_at IS NOT NULL OR attempts < max_attempts",
}

func TestGraphileWorker(t *testing.T) {
	t.Parallel()
	prove(t, graphile)
}

// The oldest release whose tables nextrun knows.
func TestGraphileWorkerOldest(t *testing.T) {
	t.Parallel()
	proveBurst(t, released(graphile, "0.16"))
}

// proveBurst lets the worker of a queue run many jobs that are due at once.
func proveBurst(t *testing.T, q queue) {
	t.Helper()
	p := &proof{fixture: newFixture(t, q)}
	p.startWorker()
	p.startScheduler("scheduler")
	p.burst()
	p.none("jobs that are not final", "SELECT count(*) FROM ("+q.unfinished+") AS u")
	p.stop("scheduler")
	p.stop("worker")
}
