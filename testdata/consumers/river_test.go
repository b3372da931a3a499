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
