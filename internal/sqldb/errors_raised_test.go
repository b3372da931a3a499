package sqldb_test

import (
	"errors"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// Only a table of nextrun's own that is missing calls for a migration.
func TestTablesThatAreMissing(t *testing.T) {
	t.Parallel()
	for kind, url := range map[string]string{"sqlite": storetest.SQLiteURL(t), "postgres": storetest.PostgresURL(t)} {
		db := openTest(t, url, sqldb.Options{})
		for table, ours := range map[string]bool{"periodic_task": true, "job": true, "joblog": true, "job_audit": false, "audit": false} {
			err := fails(t, db, "SELECT * FROM "+table)
			if err == nil || errors.Is(err, sqldb.ErrNoSchema) != ours {
				t.Errorf("%s: without the table %s: %v", kind, table, err)
			}
		}
	}
	db := openTest(t, storetest.PostgresURL(t), sqldb.Options{})
	for statement, ours := range map[string]bool{
		"SELECT nonsense":                                         true,
		"DO $$ BEGIN PERFORM nonsense; END $$":                    false,
		"DO $$ BEGIN PERFORM count(*) FROM periodic_open; END $$": true,
	} {
		if err := fails(t, db, statement); err == nil || errors.Is(err, sqldb.ErrNoSchema) != ours {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
