package consumers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// A table of the user's is the queue; SQL in the configuration feeds it.
const (
	legacyEnqueue = "INSERT INTO legacy_job (id, due, args) SELECT jid, due, args FROM nextrun_batch"
	legacyPending = "SELECT o.ref FROM nextrun_open AS o JOIN legacy_job AS j ON j.id = o.ref WHERE j.state IN ('new', 'busy')"
	legacyCancel  = "UPDATE legacy_job SET state = 'cancelled' WHERE id IN (SELECT j.id FROM nextrun_open AS o JOIN legacy_job AS j" +
		" ON j.id = o.ref WHERE j.state = 'new' FOR UPDATE OF j SKIP LOCKED) RETURNING id AS ref"
	legacyNotify = "SELECT pg_notify('legacy', queue) FROM nextrun_queues"
)

var (
	legacyPostgres = legacy(storetest.Postgres, legacyCancel, `, notify: "`+legacyNotify+`"`, 10*time.Second)
	legacySQLite   = legacy(storetest.SQLite, strings.Replace(legacyCancel, " FOR UPDATE OF j SKIP LOCKED", "", 1), "", 100*time.Millisecond)
)

func legacy(database, cancel, notify string, poll time.Duration) queue {
	return queue{
		sink: "legacy", database: database, config: `{type: sql, enqueue: "` + legacyEnqueue + `", pending: "` + legacyPending + `", cancel: "` + cancel + `"` + notify + "}", poll: poll,
		program: func(t testing.TB) []string { return []string{built(t, "./legacy", ".")} },
		unfinished: map[string]string{
			storetest.Postgres: "SELECT args::json->>'task' AS task FROM legacy_job WHERE state IN ('new', 'busy')",
			storetest.SQLite:   "SELECT args->>'task' AS task FROM legacy_job WHERE state IN ('new', 'busy')",
		}[database],
		cancelled: "SELECT id FROM legacy_job WHERE state = 'cancelled'",
	}
}

func TestSQL(t *testing.T) {
	t.Parallel()
	for _, q := range []queue{legacyPostgres, legacySQLite} {
		t.Run(q.database, func(t *testing.T) { t.Parallel(); prove(t, q) })
	}
}
