package consumers_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

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
