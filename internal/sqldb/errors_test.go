package sqldb_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// Each failure of a database has its class, found by the driver's code.
func TestErrorClasses(t *testing.T) {
	t.Parallel()
	for kind, url := range map[string]string{"sqlite": storetest.SQLiteURL(t), "postgres": storetest.PostgresURL(t)} {
		t.Run(kind, func(t *testing.T) {
			db := openTest(t, url, sqldb.Options{})
			run := func(statements ...string) error {
				return db.Update(t.Context(), func(tx *sqldb.Tx) error {
					for _, s := range statements {
						if _, err := tx.Exec(t.Context(), s); err != nil {
							return err
						}
					}
					return nil
				})
			}
			if err := run("CREATE TABLE parent (id integer PRIMARY KEY, n integer NOT NULL CHECK (n > 0))",
				"CREATE TABLE child (id integer UNIQUE REFERENCES parent (id))", "INSERT INTO parent VALUES (1, 1)", "INSERT INTO child VALUES (1)"); err != nil {
				t.Fatal(err)
			}
			for statement, class := range map[string]error{
				"INSERT INTO parent VALUES (1, 1)":    sqldb.ErrDuplicate,
				"INSERT INTO child VALUES (1)":        sqldb.ErrDuplicate,
				"INSERT INTO parent VALUES (2, 0)":    sqldb.ErrRefused,
				"INSERT INTO parent VALUES (2, NULL)": sqldb.ErrRefused,
				"INSERT INTO child VALUES (7)":        sqldb.ErrRefused,
				"DELETE FROM parent":                  sqldb.ErrRefused,
			} {
				if err := run(statement); !errors.Is(err, class) {
					t.Errorf("%s: %v, want %v", statement, err, class)
				}
			}
			if err := run("SELECT nonsense"); err == nil || errors.Is(err, sqldb.ErrBusy) || errors.Is(err, sqldb.ErrUnavailable) {
				t.Errorf("a wrong statement: %v", err)
			}
			over, cancel := context.WithCancel(t.Context())
			cancel()
			if err := db.Update(over, func(*sqldb.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("a context that is over: %v", err)
			}
		})
	}
}

// Only what a row is to blame for is sqldb.ErrRefused: what a trigger raises, a value
// that is too large or of the wrong type. Nothing else is, known or not.
func TestRefusedIsWhatARowIsToBlameFor(t *testing.T) {
	t.Parallel()
	refused, others := map[string]error{}, map[string]error{}
	sqlite := openTest(t, storetest.SQLiteURL(t), sqldb.Options{})
	refused["sqlite: trigger"] = fails(t, sqlite, "CREATE TABLE guarded (id integer)",
		"CREATE TRIGGER g BEFORE INSERT ON guarded BEGIN SELECT RAISE(ABORT, 'no'); END", "INSERT INTO guarded VALUES (1)")
	refused["sqlite: too large"] = fails(t, sqlite, "SELECT zeroblob(2000000000)")
	refused["sqlite: no integer"] = fails(t, sqlite, "CREATE TABLE n (id integer PRIMARY KEY)", "INSERT INTO n VALUES ('x')")
	refused["sqlite: no JSON"] = fails(t, sqlite, "SELECT json_extract('{', '$.a')")
	others["sqlite: syntax"] = fails(t, sqlite, "SELEC 1")
	others["sqlite: reader"] = sqlite.View(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), "CREATE TABLE t (id integer)")
		return err
	})
	postgres := openTest(t, storetest.PostgresURL(t), sqldb.Options{})
	refused["postgres: trigger"] = fails(t, postgres, "DO $$ BEGIN RAISE EXCEPTION 'no'; END $$")
	refused["postgres: no integer"] = fails(t, postgres, "SELECT 'x'::integer")
	refused["postgres: overflow"] = fails(t, postgres, "SELECT 2147483647 + 1")
	refused["postgres: too large"] = fails(t, postgres, "CREATE TABLE big (t text UNIQUE)",
		"INSERT INTO big SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1000) AS i")
	others["postgres: permission"] = fails(t, postgres, "CREATE TABLE mine (id integer)",
		"SET LOCAL ROLE pg_monitor", "INSERT INTO mine VALUES (1)")
	others["postgres: syntax"] = fails(t, postgres, "SELEC 1")
	others["postgres: damaged"] = fails(t, postgres, "DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'XX001'; END $$")
	for name, db := range map[string]*sqldb.DB{"sqlite": sqlite, "postgres": postgres} {
		refused[name+": NULL"] = db.View(t.Context(), func(tx *sqldb.Tx) error {
			var texts []string
			return tx.Select(t.Context(), &texts, "SELECT NULL")
		})
	}
	for name, err := range refused {
		if !errors.Is(err, sqldb.ErrRefused) {
			t.Errorf("%s: %v, want ErrRefused", name, err)
		}
	}
	for name, err := range others {
		if err == nil || errors.Is(err, sqldb.ErrRefused) {
			t.Errorf("%s: %v, want another error than ErrRefused", name, err)
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

// Transactions are READ COMMITTED whatever the server's default is.
func TestPostgresReadCommitted(t *testing.T) {
	t.Parallel()
	url := storetest.PostgresURL(t)
	admin := openTest(t, url, sqldb.Options{})
	name := oneValue(t, admin.Writer(), "SELECT quote_ident(current_database())")
	if _, err := admin.Writer().ExecContext(t.Context(), "ALTER DATABASE "+name+" SET default_transaction_isolation = 'serializable'"); err != nil {
		t.Fatal(err)
	}
	db := openTest(t, url, sqldb.Options{})
	within := func(ctx context.Context, fn func(*sqldb.Tx) error) error {
		return db.UpdateWithin(ctx, sqldb.BatchLockWait, fn)
	}
	for name, run := range map[string]func(context.Context, func(*sqldb.Tx) error) error{"Update": db.Update, "View": db.View, "UpdateWithin": within} {
		err := run(t.Context(), func(tx *sqldb.Tx) error {
			if level := oneValue(t, tx.DBTX(), "SHOW transaction_isolation"); level != "read committed" {
				t.Errorf("%s: transaction_isolation is %s", name, level)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
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
			for wait := time.Duration(0); wait < 20*time.Millisecond; wait += time.Millisecond {
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
