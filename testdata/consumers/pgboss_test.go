package consumers_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// The queue one takes one job at a time, and apart is a partition of the table of jobs.
var pgBoss = queue{
	sink: "boss", database: storetest.Postgres, config: "{type: pg-boss}", schema: "pgboss",
	program:    nodeWorker("worker-pgboss.js"),
	env:        []string{"QUEUES=proof,one=exclusive,apart=partition", "CONCURRENCY=50"},
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

func TestPgBossRefuses(t *testing.T) {
	list := faults(pgBoss, func(f *fixture) { f.migrateQueue("12.25") }, func(f *fixture) { f.migrateQueue() })
	problems := []string{`relation "pgboss.job" does not exist`, "", "permission denied for schema pgboss"}
	for i := range list {
		list[i].problem = problems[i]
	}
	refuse(t, pgBoss, slices.Delete(list, 1, 2)) // release 12.25 can be fed; check says that it was not tried
	t.Run("rows", func(t *testing.T) {
		refuseRows(t, pgBoss, []badRow{
			{"args that are not JSON", "proof", "{", "json"},
			{"args with a zero character", "proof", `{"text": "\u0000"}`, "u0000"},
			{"an unknown queue", "missing", "{}", `await boss.createQueue("missing")`},
		})
	})
}
