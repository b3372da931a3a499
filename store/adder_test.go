package store_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
)

// A role that may only add jobs adds them in its own transaction.
func TestSubmitAsARoleThatMayOnlyAddJobs(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	role := "adder_" + d.One("SELECT md5(current_database())")[:12]
	d.Exec("CREATE ROLE " + role + "; GRANT SELECT, INSERT ON job TO " + role)
	defer d.Exec("DROP OWNED BY " + role + "; DROP ROLE " + role)
	tx, err := d.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("SET LOCAL ROLE " + role); err != nil {
		t.Fatal(err)
	}
	if _, err := jobqueue.NewQueue(d.Store.Jobs()).In(tx).Submit(t.Context(), jobqueue.Job{Task: "x"}); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
}
