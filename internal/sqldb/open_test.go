package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store"
)

func openTest(t *testing.T, url string, o sqldb.Options) *sqldb.DB {
	t.Helper()
	o.Create = true
	db, err := store.Open(t.Context(), url, store.Options(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return sqldb.Of(db)
}

func oneValue(t *testing.T, conn jobqueue.DBTX, query string) (value string) {
	t.Helper()
	if err := conn.QueryRowContext(t.Context(), query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// Isolation and timeouts hold in each transaction, whatever the server's defaults are, and nothing of them stays with
// the session, which belongs to somebody else behind a transaction pooler.
func TestPostgresTransactions(t *testing.T) {
	t.Parallel()
	url := storetest.PostgresURL(t)
	admin := openTest(t, url, sqldb.Options{})
	name := oneValue(t, admin.Writer(), "SELECT quote_ident(current_database())")
	if _, err := admin.Writer().ExecContext(t.Context(), "ALTER DATABASE "+name+" SET default_transaction_isolation = 'serializable'"); err != nil {
		t.Fatal(err)
	}
	db := openTest(t, url, sqldb.Options{
		MaxConns: 1, StatementTimeout: 7 * time.Minute, LockTimeout: 61500 * time.Millisecond, IdleTimeout: 4 * time.Minute,
	})
	const all = `SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings
		WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'synchronous_commit', 'jit', 'transaction_isolation')`
	before := oneValue(t, db.Writer(), all)
	brief := func(ctx context.Context, fn func(*sqldb.Tx) error) error {
		return db.UpdateWithin(ctx, sqldb.BatchLockWait, fn)
	}
	for name, c := range map[string]struct {
		run  func(context.Context, func(*sqldb.Tx) error) error
		lock string
	}{"Update": {db.Update, "61500"}, "View": {db.View, "61500"}, "UpdateWithin": {brief, "200"}} {
		err := c.run(t.Context(), func(tx *sqldb.Tx) error {
			got := oneValue(t, tx.DBTX(), all)
			for _, want := range []string{"statement_timeout=420000", "lock_timeout=" + c.lock, "idle_in_transaction_session_timeout=120000", "jit=off", "transaction_isolation=read committed"} {
				if !strings.Contains(got, want) {
					t.Errorf("in %s: %s, want %s", name, got, want)
				}
			}
			if got := oneValue(t, tx.DBTX(), "SHOW transaction_read_only"); (got == "on") != (name == "View") {
				t.Errorf("in %s transaction_read_only is %s", name, got)
			}
			return tx.AsyncCommit(t.Context())
		})
		if err != nil {
			t.Fatal(err)
		}
		if after := oneValue(t, db.Writer(), all); after != before { // the same connection: there is but one
			t.Errorf("after %s: %s, before: %s", name, after, before)
		}
	}
	if got := oneValue(t, db.Writer(), "SELECT (SELECT count(*) FROM pg_prepared_statements) + (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())"); got != "0" {
		t.Errorf("%s prepared statements and advisory locks stay with the session", got)
	}
}

// The pragmas hold on every connection, also on a second one of a pool.
func TestSQLitePragmas(t *testing.T) {
	t.Parallel()
	db := openTest(t, storetest.SQLiteURL(t), sqldb.Options{LockTimeout: 1234 * time.Millisecond})
	err := db.Update(t.Context(), func(tx *sqldb.Tx) error {
		for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "1234"} {
			if got := oneValue(t, tx.DBTX(), "PRAGMA "+pragma); got != want {
				t.Errorf("%s is %s, want %s", pragma, got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var readers []*sql.Conn
	for range 3 {
		conn, err := db.Reader().Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, conn)
		for pragma, want := range map[string]string{"journal_mode": "wal", "query_only": "1", "busy_timeout": "1234"} {
			if got := oneValue(t, conn, "PRAGMA "+pragma); got != want {
				t.Errorf("of a reader %s is %s, want %s", pragma, got, want)
			}
		}
	}
	for _, conn := range readers {
		_ = conn.Close()
	}
}

// A write transaction holds the write lock from its start, so that it never
// fails in the middle; readers go on.
func TestSQLiteWritesAreImmediate(t *testing.T) {
	t.Parallel()
	url := storetest.SQLiteURL(t)
	db := openTest(t, url, sqldb.Options{})
	other := openTest(t, url, sqldb.Options{LockTimeout: time.Millisecond})
	err := db.Update(t.Context(), func(*sqldb.Tx) error {
		if err := other.Update(t.Context(), func(*sqldb.Tx) error { return nil }); !errors.Is(err, sqldb.ErrBusy) {
			t.Errorf("a second writer: %v, want ErrBusy", err)
		}
		return other.View(t.Context(), func(tx *sqldb.Tx) error { oneValue(t, tx.DBTX(), "SELECT count(*) FROM sqlite_schema"); return nil })
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSQLiteFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := store.Open(t.Context(), "sqlite:"+filepath.Join(dir, "none.db"), store.Options{}); !errors.Is(err, sqldb.ErrNoDatabase) ||
		!strings.Contains(err.Error(), "nextrun migrate up --db sqlite:") {
		t.Errorf("a file that does not exist: %v", err)
	}
	for _, name := range []string{"a b.db", "q?mode=memory.db", "h#x.db", "p%41.db", "ü&_journal_mode=OFF.db"} {
		db := openTest(t, "sqlite:"+filepath.Join(dir, name), sqldb.Options{})
		if err := db.Update(t.Context(), func(*sqldb.Tx) error { return nil }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	path := filepath.Join(dir, "text.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if db, err := store.Open(t.Context(), "sqlite:"+path, store.Options{}); err == nil {
		_ = db.Close()
		t.Error("a file that is no database was opened")
	}
}

// A panic in a transaction rolls it back, and goes on.
func TestPanicRollsBack(t *testing.T) {
	t.Parallel()
	for _, url := range []string{storetest.SQLiteURL(t), storetest.PostgresURL(t)} {
		db := openTest(t, url, sqldb.Options{MaxConns: 1})
		func() {
			defer func() {
				if p := recover(); fmt.Sprint(p) != "oops" {
					t.Errorf("recovered %v", p)
				}
			}()
			_ = db.Update(t.Context(), func(tx *sqldb.Tx) error {
				if _, err := tx.Exec(t.Context(), "CREATE TABLE half (id integer)"); err != nil {
					t.Error(err)
				}
				panic("oops")
			})
		}()
		if err := db.Update(t.Context(), func(tx *sqldb.Tx) error { _, err := tx.Exec(t.Context(), "CREATE TABLE half (id integer)"); return err }); err != nil {
			t.Errorf("after a panic: %v", err)
		}
	}
}

// A schema of PostgreSQL's own, or a name that is more than a name, is none for nextrun.
func TestSchemaNames(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]bool{
		"": true, "nextrun": true, "_a1": true, "information_schema": false, "pg_catalog": false, "A": false, "a b": false, `a"; DROP TABLE job; --`: false,
	} {
		if err := sqldb.ValidSchema(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}
