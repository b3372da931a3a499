package consumers_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

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
