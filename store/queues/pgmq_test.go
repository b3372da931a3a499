package queues_test

import (
	"os"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// pgmqFixture has the queues mail and Bulk. NEXTRUN_TEST_PGMQ may name PGMQ's own SQL
// file, pgmq-extension/sql/pgmq.sql, to be used in place of the one in testdata.
func pgmqFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	f := newFixture(t, migrated.New(t, storetest.Postgres).Database)
	if path := os.Getenv("NEXTRUN_TEST_PGMQ"); path != "" {
		script, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f.Exec(string(script))
	} else {
		f.run("pgmq.sql")
	}
	f.Exec("SELECT pgmq.create('mail'); SELECT pgmq.create('Bulk')")
	return f
}
