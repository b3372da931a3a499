package scheduler_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// A setting of the database that changes what arrays mean does not keep tasks from being
// planned and submitted.
func TestArrayNullsOff(t *testing.T) {
	before := newPostgresFixture(t)
	before.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET array_nulls = off', current_database()); END $$`)
	f := newFixture(migrated.Open(storetest.At(t, before.URL)))
	f.exec(insertTask, "new", "yearly")
	f.exec(insertTask, "due", "yearly")
	f.due("due", 0)
	f.once()
	f.want(1, "SELECT count(*) FROM job WHERE tracker = 'due'")
	f.want(0, "SELECT count(*) FROM periodic_task WHERE due IS NULL")
}
