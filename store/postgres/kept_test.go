package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/internal/connect"
)

// A connection keeps statements as long as its session is the same one: behind a pooler each
// transaction may have another.
func TestKeptStatementsBelongToSessionOnPostgres(t *testing.T) {
	t.Parallel()
	db, err := connect.Open(t.Context(), storetest.PostgresURL(t), sqldb.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ask := func() (answer string, kept int) {
		t.Helper()
		err := db.View(t.Context(), func(tx *sqldb.Tx) error {
			if err := tx.First(sqldb.Keep(t.Context(), sqldb.ForGood), &answer, "SELECT $1::text || ' kept'", "is"); err != nil {
				return err
			}
			return tx.First(t.Context(), &kept, "SELECT count(*) FROM pg_prepared_statements")
		})
		if err != nil || answer != "is kept" {
			t.Fatalf("%q, %v", answer, err)
		}
		return answer, kept
	}
	ask()
	if _, kept := ask(); kept != 1 {
		t.Errorf("%d statements are kept, want 1", kept)
	}
	// What the connection sees when a pooler gives it the session of somebody else, or one
	// that was cleaned.
	for _, change := range []string{"SELECT set_config('nextrun.connection', 'somebody', false)", "RESET ALL"} {
		for _, statement := range []string{"DEALLOCATE ALL", change} {
			run(t, db, statement)
		}
		if _, kept := ask(); kept != 0 {
			t.Errorf("after %s %d statements were kept, want none", change, kept)
		}
		ask() // once more
	}
}

// After a change of the tables a kept statement may fail for ever. It does so once.
func TestKeptStatementThatFailsIsPreparedAnewOnPostgres(t *testing.T) {
	t.Parallel()
	db, err := connect.Open(t.Context(), storetest.PostgresURL(t), sqldb.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ask := func() error {
		return db.View(t.Context(), func(tx *sqldb.Tx) error {
			var answer string
			return tx.First(sqldb.Keep(t.Context(), sqldb.ForGood), &answer, "SELECT * FROM changing WHERE $1::text = 'it'", "it")
		})
	}
	run(t, db, "CREATE TABLE changing AS SELECT 1 AS n")
	for range 3 {
		if err := ask(); err != nil {
			t.Fatal(err)
		}
	}
	run(t, db, "ALTER TABLE changing ALTER COLUMN n TYPE bigint")
	if err := ask(); err == nil || !strings.Contains(err.Error(), "cached plan") {
		t.Errorf("the statement was not kept: %v", err)
	}
	if err := ask(); err != nil {
		t.Errorf("it goes on to fail: %v", err)
	}
}

func run(t *testing.T, db *sqldb.DB, statement string) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), statement)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A statement that is kept for a time is planned anew after it, and an error for which a row is to blame
// costs the connection nothing.
func TestKeptStatementLastsAsLongAsItMayOnPostgres(t *testing.T) {
	t.Parallel()
	db, err := connect.Open(t.Context(), storetest.PostgresURL(t), sqldb.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	inTx := func(work func(tx *sqldb.Tx) error) {
		t.Helper()
		if err := db.Update(t.Context(), work); err != nil {
			t.Fatal(err)
		}
	}
	var first, now struct {
		PID      int
		Prepared string
	}
	const session = `SELECT pg_backend_pid() AS pid, coalesce((SELECT string_agg(prepare_time::text, ',') FROM pg_prepared_statements WHERE statement LIKE '%kept by%'), '') AS prepared`
	run(t, db, "CREATE TABLE positive (n integer CHECK (n > 0))")
	for i, during := range []time.Duration{0, time.Nanosecond, time.Nanosecond, time.Hour, time.Hour} {
		inTx(func(tx *sqldb.Tx) error {
			if _, err := tx.Exec(sqldb.Keep(t.Context(), during), "INSERT INTO positive VALUES ($1) /* kept by us */", 1); err != nil {
				return err
			}
			return tx.First(t.Context(), &now, session)
		})
		switch anew := now.Prepared != first.Prepared; {
		case i == 0 && now.Prepared != "":
			t.Error("a statement was kept that may not be")
		case strings.Contains(now.Prepared, ","):
			t.Errorf("the old statement is still there: %s", now.Prepared)
		case i > 0 && anew != (i < 4):
			t.Errorf("time %d: prepared anew: %t", i, anew)
		}
		first = now
	}
	err = db.Update(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(sqldb.Keep(t.Context(), time.Hour), "INSERT INTO positive VALUES ($1) /* kept by us */", 0)
		return err
	})
	if err == nil {
		t.Error("the CHECK has refused nothing")
	}
	inTx(func(tx *sqldb.Tx) error { return tx.First(t.Context(), &now, session) })
	if now != first {
		t.Errorf("after the error the session is %+v, it was %+v", now, first)
	}
}
