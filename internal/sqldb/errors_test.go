package sqldb_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// errOther is any error that has no class.
var errOther = errors.New("another error")

// classes are what the last of some statements fails with, on both databases or on one.
var classes = []struct {
	kind       string
	want       error
	statements []string
}{
	{"", sqldb.ErrDuplicate, []string{"INSERT INTO parent VALUES (1, 1)"}},
	{"", sqldb.ErrDuplicate, []string{"INSERT INTO child VALUES (1)"}},
	{"", sqldb.ErrRefused, []string{"INSERT INTO parent VALUES (2, 0)"}},
	{"", sqldb.ErrRefused, []string{"INSERT INTO parent VALUES (2, NULL)"}},
	{"", sqldb.ErrRefused, []string{"INSERT INTO child VALUES (7)"}},
	{"", sqldb.ErrRefused, []string{"DELETE FROM parent"}},
	{"", errOther, []string{"SELECT nonsense"}},
	{"", errOther, []string{"SELEC 1"}},
	{"sqlite", sqldb.ErrRefused, []string{"CREATE TRIGGER g BEFORE INSERT ON parent BEGIN SELECT RAISE(ABORT, 'no'); END", "INSERT INTO parent VALUES (2, 1)"}},
	{"sqlite", sqldb.ErrRefused, []string{"SELECT zeroblob(2000000000)"}},
	{"sqlite", sqldb.ErrRefused, []string{"INSERT INTO parent VALUES ('x', 1)"}},
	{"sqlite", sqldb.ErrRefused, []string{"SELECT json_extract('{', '$.a')"}},
	{"postgres", sqldb.ErrRefused, []string{"DO $$ BEGIN RAISE EXCEPTION 'no'; END $$"}},
	{"postgres", sqldb.ErrRefused, []string{"SELECT 'x'::integer"}},
	{"postgres", sqldb.ErrRefused, []string{"SELECT 2147483647 + 1"}},
	{"postgres", sqldb.ErrRefused, []string{"CREATE TABLE big (t text UNIQUE)", "INSERT INTO big SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1000) AS i"}},
	{"postgres", errOther, []string{"SET LOCAL ROLE pg_monitor", "INSERT INTO parent VALUES (2, 1)"}},
	{"postgres", errOther, []string{"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'XX001'; END $$"}},
	{"postgres", sqldb.ErrUnavailable, []string{"SET TRANSACTION READ ONLY", "CREATE TABLE t (id integer)"}},
}

// Each failure of a database has its class, found by the driver's code. Only what a row is to blame for is
// sqldb.ErrRefused: what a constraint or a trigger refuses, a value that is too large or of the wrong type.
func TestErrorClasses(t *testing.T) {
	t.Parallel()
	for kind, url := range map[string]string{"sqlite": storetest.SQLiteURL(t), "postgres": storetest.PostgresURL(t)} {
		db := openTest(t, url, sqldb.Options{})
		if err := fails(t, db, "CREATE TABLE parent (id integer PRIMARY KEY, n integer NOT NULL CHECK (n > 0))",
			"CREATE TABLE child (id integer UNIQUE REFERENCES parent (id))", "INSERT INTO parent VALUES (1, 1)", "INSERT INTO child VALUES (1)"); err != nil {
			t.Fatal(err)
		}
		for _, c := range classes {
			if c.kind != "" && c.kind != kind {
				continue
			}
			err := fails(t, db, c.statements...)
			for _, class := range []error{sqldb.ErrRefused, sqldb.ErrUnavailable, sqldb.ErrBusy} {
				of := errors.Is(c.want, class) || errors.Is(c.want, sqldb.ErrDuplicate) && errors.Is(class, sqldb.ErrRefused)
				if err == nil || errors.Is(err, class) != of {
					t.Errorf("%s: %s: %v, want %v", kind, c.statements, err, c.want)
				}
			}
			if errors.Is(c.want, sqldb.ErrDuplicate) && !errors.Is(err, c.want) {
				t.Errorf("%s: %s: %v, want %v", kind, c.statements, err, c.want)
			}
		}
		err := db.View(t.Context(), func(tx *sqldb.Tx) error {
			var texts []string
			return tx.Select(t.Context(), &texts, "SELECT NULL")
		})
		if !errors.Is(err, sqldb.ErrRefused) {
			t.Errorf("%s: NULL: %v, want ErrRefused", kind, err)
		}
		err = db.View(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), "CREATE TABLE t (id integer)")
			return err
		})
		if err == nil || errors.Is(err, sqldb.ErrRefused) {
			t.Errorf("%s: a reader that writes: %v, want another error than ErrRefused", kind, err)
		}
	}
}

// fails runs statements in a transaction and returns the error of the last.
func fails(t *testing.T, db *sqldb.DB, statements ...string) error {
	t.Helper()
	return db.Update(t.Context(), func(tx *sqldb.Tx) error {
		for i, s := range statements {
			if _, err := tx.DBTX().ExecContext(t.Context(), s); err != nil {
				if i < len(statements)-1 {
					t.Errorf("%s: %v", s, err)
				}
				return err
			}
		}
		return nil
	})
}

// A context that ends while the database works is told as such: not as a
// database that cannot be reached or is busy.
func TestContextEndsAmidAStatement(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct{ url, long string }{
		"sqlite":   {storetest.SQLiteURL(t), "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000) SELECT count(*) FROM n"},
		"postgres": {storetest.PostgresURL(t), "SELECT pg_sleep(60)"},
	} {
		t.Run(kind, func(t *testing.T) {
			db := openTest(t, c.url, sqldb.Options{})
			for wait := time.Duration(0); wait < 20*time.Millisecond; wait += 5 * time.Millisecond {
				ctx, cancel := context.WithCancel(t.Context())
				err := db.Update(ctx, func(tx *sqldb.Tx) error {
					time.AfterFunc(wait, cancel)
					_, err := tx.Exec(ctx, c.long)
					return err
				})
				if !errors.Is(err, context.Canceled) || errors.Is(err, sqldb.ErrUnavailable) || errors.Is(err, sqldb.ErrBusy) {
					t.Errorf("after %s: %v, want %v", wait, err, context.Canceled)
				}
				ended, cancel := context.WithCancel(t.Context())
				err = db.Update(ended, func(tx *sqldb.Tx) error {
					cancel()
					for {
						if _, err := tx.Exec(context.WithoutCancel(ended), "SELECT 1"); err != nil {
							return err // the transaction has been rolled back
						}
					}
				})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("the next statement: %v, want %v", err, context.Canceled)
				}
			}
		})
	}
}

// What passes by itself is busy or unavailable: the scheduler tries again.
func TestPostgresPassingErrors(t *testing.T) {
	t.Parallel()
	url := storetest.PostgresURL(t)
	user := openTest(t, url, sqldb.Options{})
	brief := openTest(t, url, sqldb.Options{StatementTimeout: 200 * time.Millisecond})
	impatient := openTest(t, url, sqldb.Options{LockTimeout: 50 * time.Millisecond})
	awake := openTest(t, url, sqldb.Options{IdleTimeout: 50 * time.Millisecond})
	try := func(db *sqldb.DB, want error, statements ...string) {
		t.Helper()
		err := db.Update(t.Context(), func(tx *sqldb.Tx) error {
			for _, s := range statements {
				if _, err := tx.Exec(t.Context(), s); err != nil {
					return err
				}
			}
			return nil
		})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", statements, err, want)
		}
		if want != nil && errors.Is(err, sqldb.ErrRefused) {
			t.Errorf("%s: a row is blamed: %v", statements, err)
		}
	}
	try(user, nil, "CREATE TABLE place (id integer PRIMARY KEY)", "INSERT INTO place VALUES (1)")
	try(brief, sqldb.ErrBusy, "SELECT pg_sleep(60)") // the statement timeout
	try(user, sqldb.ErrUnavailable, "SELECT pg_terminate_backend(pg_backend_pid())")
	err := user.Update(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(t.Context(), "UPDATE place SET id = 2"); err != nil {
			return err
		}
		try(impatient, sqldb.ErrBusy, "UPDATE place SET id = 3") // the lock timeout
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	idle := make(chan struct{})
	err = awake.Update(t.Context(), func(tx *sqldb.Tx) error {
		go func() { // another session sees when the server has ended this one
			defer close(idle)
			for count := "1"; count != "0"; {
				count = oneValue(t, user.Writer(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'")
			}
		}()
		<-idle
		_, err := tx.Exec(t.Context(), "SELECT 1")
		return err
	})
	if !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("a transaction in which nothing happened: %v, want %v", err, sqldb.ErrUnavailable)
	}
	storetest.Eventually(t, "the pool has recovered", func() bool {
		return awake.Update(t.Context(), func(tx *sqldb.Tx) error { _, err := tx.Exec(t.Context(), "SELECT 1"); return err }) == nil
	})
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
