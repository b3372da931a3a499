package consumers_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// Graphile Worker deletes jobs that have ended.
var graphile = queue{
	sink: "workers", database: storetest.Postgres, config: "{type: graphile-worker}", schema: "graphile_worker",
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

func TestGraphileWorkerRefuses(t *testing.T) {
	list := faults(graphile, func(f *fixture) { f.migrateQueue("0.15") }, func(f *fixture) { f.migrateQueue() })
	problems := []string{"does not exist; nextrun needs Graphile Worker 0.16", "", "permission denied for schema graphile_worker"}
	for i := range list {
		list[i].problem = problems[i]
	}
	list[2].mend = func(f *fixture) { // rights alone are not enough
		grant(f)
		for _, table := range []string{"jobs", "tasks", "job_queues"} {
			f.Exec("CREATE POLICY nextrun ON graphile_worker._private_" + table + " TO " + f.role + " USING (true) WITH CHECK (true)")
		}
	}
	refuse(t, graphile, slices.Delete(list, 1, 2)) // release 0.15 can be fed; check says that it was not tried
	t.Run("rows", func(t *testing.T) {
		refuseRows(t, graphile, []badRow{
			{"args that are not JSON", "proof", "{", "json"},
			{"an identifier that is too long", strings.Repeat("k", 129), "{}", "128"},
		})
	})
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
