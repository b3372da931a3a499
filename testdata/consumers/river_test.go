package consumers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// River on PostgreSQL, which a notification wakes, and on SQLite, where its
// worker polls.
var (
	riverPostgres = queue{
		sink: "river", database: storetest.Postgres, config: "{type: river}", schema: "public",
		program:    func(t testing.TB) []string { return []string{built(t, "./river", ".")} },
		env:        []string{"QUEUES=default,mail"},
		groups:     []string{"default", "mail"}, // River's queues
		poll:       10 * time.Second,
		unfinished: "SELECT args->>'task' AS task FROM river_job WHERE state NOT IN ('cancelled', 'completed', 'discarded')",
		cancelled:  "SELECT metadata->'nextrun'->>'jid' FROM river_job WHERE state = 'cancelled'",
		kept:       "SELECT args->>'task' AS task, metadata->'nextrun'->>'due' AS due FROM river_job",
	}
	riverSQLite = queue{
		sink: "river", database: storetest.SQLite, config: "{type: river}",
		program:    func(t testing.TB) []string { return []string{built(t, ".", "riversqlite")} },
		env:        riverPostgres.env,
		groups:     riverPostgres.groups,
		poll:       100 * time.Millisecond,
		unfinished: riverPostgres.unfinished,
		cancelled:  riverPostgres.cancelled,
		kept:       riverPostgres.kept,
	}
)

// ownQueue is nextrun's, for comparison.
func ownQueue(database string) queue {
	return queue{
		sink: "job", database: database,
		program:    func(t testing.TB) []string { return []string{built(t, "./job", ".")} },
		poll:       10 * time.Second,
		unfinished: "SELECT tracker AS task FROM job WHERE state NOT IN ('failed', 'cancelled', 'success')",
		cancelled:  "SELECT jid FROM job WHERE state = 'cancelled'",
		kept:       "SELECT tracker AS task, due FROM job",
	}
}

func TestRiver(t *testing.T) {
	t.Parallel()
	for _, q := range []queue{riverPostgres, riverSQLite} {
		t.Run(q.database, func(t *testing.T) { t.Parallel(); prove(t, q) })
	}
}

func TestOwnQueue(t *testing.T) {
	t.Parallel()
	for _, database := range []string{storetest.Postgres, storetest.SQLite} {
		t.Run(database, func(t *testing.T) { t.Parallel(); prove(t, ownQueue(database)) })
	}
}

func TestRiverRefuses(t *testing.T) {
	t.Parallel()
	long := badRow{"a kind that is too long", strings.Repeat("k", 128), "{}", "127 characters"}
	for _, test := range []struct {
		queue
		rows []badRow
	}{
		{riverPostgres, []badRow{
			long,
			{"args that are not JSON", "proof", "{", "invalid input syntax for type json"},
			{"args with a zero character", "proof", `{"text": "\u0000"}`, "u0000"},
		}},
		{riverSQLite, []badRow{long, {"args that are not JSON", "proof", "{", "malformed JSON"}}},
	} {
		t.Run(test.database, func(t *testing.T) {
			list := faults(test.queue, func(f *fixture) { f.migrateQueue("5") }, func(f *fixture) { f.migrateQueue() })
			list[0].problem, list[1].problem = "river_job", "column"
			refuse(t, test.queue, list)
			t.Run("rows", func(t *testing.T) { refuseRows(t, test.queue, test.rows) })
		})
	}
}
