package migrations_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// The script for roles works on a database without the tables of jobs. A table of that name
// which belongs to something else gets no rights.
func TestRolesWithoutJobs(t *testing.T) {
	t.Parallel()
	db := open(storetest.New(t, storetest.Postgres))
	db.exec("CREATE TABLE job (theirs integer)")
	if _, err := db.m.UpWithoutJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	prefix := db.roles()
	db.want("false", "SELECT has_table_privilege('"+prefix+"executor', 'job', 'SELECT')")
	db.want("true", "SELECT has_table_privilege('"+prefix+"scheduler', 'periodic_task', 'SELECT')")
	db.want("0", "SELECT count(*) FROM pg_class WHERE relname = 'joblog'")
}
