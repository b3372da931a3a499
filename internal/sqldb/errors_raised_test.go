package sqldb_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// A trigger may raise any code, such as one that asks a remote server which is
// down. That says nothing about the database.
func TestPostgresCodesThatATriggerRaises(t *testing.T) {
	t.Parallel()
	db := openTest(t, storetest.PostgresURL(t), sqldb.Options{})
	for _, code := range []string{"08001", "08006", "25006", "53100", "53200", "57P01", "57P03", "58030"} {
		err := fails(t, db, fmt.Sprintf("DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '%s'; END $$", code))
		for _, class := range []error{sqldb.ErrUnavailable, sqldb.ErrBusy, sqldb.ErrRefused} {
			if err == nil || errors.Is(err, class) {
				t.Errorf("%s: %v is %v", code, err, class)
			}
		}
	}
	for _, code := range []string{"40001", "40P01"} {
		err := fails(t, db, fmt.Sprintf("DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '%s'; END $$", code))
		if !errors.Is(err, sqldb.ErrContended) || !errors.Is(err, sqldb.ErrBusy) {
			t.Errorf("%s: %v is not %v", code, err, sqldb.ErrContended)
		}
	}
	if err := fails(t, db, "SET TRANSACTION READ ONLY", "CREATE TABLE t (id integer)"); !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("a database that takes no changes: %v", err)
	}
}

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
