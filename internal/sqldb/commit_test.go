package sqldb_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// Transactions that notify commit one after the other. One that waits too long for its
// turn has met no locked row, so no row is to blame: the database is busy.
func TestPostgresCommitThatWaitsForAnother(t *testing.T) {
	t.Parallel()
	server := storetest.PostgresServer(t)
	db := openTest(t, server.URL(), sqldb.Options{})
	other, err := sql.Open("postgres", server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	exec := func(statement string) {
		t.Helper()
		if _, err := other.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TABLE place (id integer)")
	// A commit that waits for a standby that there is not.
	exec("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
	exec("SELECT pg_reload_conf()")
	first := make(chan error, 1)
	commit := func() {
		_, err := other.ExecContext(t.Context(), "BEGIN; SET LOCAL synchronous_commit = on; INSERT INTO place VALUES (1); NOTIFY something; COMMIT")
		first <- err
	}
	go commit()
	for waits := 0; waits == 0; {
		select {
		case err := <-first: // the server had not read its settings again
			if err != nil {
				t.Fatal(err)
			}
			go commit()
		default:
		}
		if err := other.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	err = db.UpdateWithin(t.Context(), 20*time.Millisecond, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), "NOTIFY something")
		return err
	})
	if !errors.Is(err, sqldb.ErrBusy) || errors.Is(err, sqldb.ErrContended) {
		t.Errorf("the second commit: %v, want %v, and no row that is locked", err, sqldb.ErrBusy)
	}
	exec("ALTER SYSTEM RESET synchronous_standby_names")
	exec("SELECT pg_reload_conf()")
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// Rows reach the database as they are, whatever is in them, in their order.
func TestRecords(t *testing.T) {
	t.Parallel()
	texts := []string{"plain", "", `quote " and \ and ' and $1 and {a,b} and NULL`, "NULL", "line\nbreak\ttab", "grüß 日本 \U0001F980", " ", "[1, null]"}
	at := time.Date(2026, 3, 1, 2, 3, 4, 5000, time.FixedZone("", 3600))
	for kind, url := range map[string]string{"sqlite": storetest.SQLiteURL(t), "postgres": storetest.PostgresURL(t)} {
		t.Run(kind, func(t *testing.T) {
			db := openTest(t, url, sqldb.Options{})
			columns := []sqldb.Field{sqldb.Int("n"), sqldb.Text("word"), sqldb.Time("at"), sqldb.Bool("yes"), sqldb.Text("absent")}
			for _, count := range []int{0, 1, len(texts)} {
				r := db.Records(2, columns, count, func(i int) []any {
					when := at.Add(time.Duration(i) * time.Hour)
					if i == 1 {
						when = time.Time{}
					}
					return []any{int64(i), texts[i], when, i%2 == 0, nil}
				})
				var got []struct {
					N      int
					Word   string
					At     sqldb.Timestamp
					Yes    bool
					Absent *string
				}
				err := db.View(t.Context(), func(tx *sqldb.Tx) error {
					return tx.Select(t.Context(), &got, "SELECT n, word, at, yes, absent FROM "+r.SQL+" AS v WHERE n >= $1", 0, r.Param)
				})
				if err != nil || len(got) != count {
					t.Fatalf("%d of %d rows: %v", len(got), count, err)
				}
				for i, row := range got {
					want := at.UTC().Add(time.Duration(i) * time.Hour)
					if i == 1 {
						want = time.Time{}
					}
					if row.N != i || row.Word != texts[i] || !row.At.Time().Equal(want) || row.Yes != (i%2 == 0) || row.Absent != nil {
						t.Errorf("row %d: %+v", i, row)
					}
				}
			}
			bad := db.Records(1, columns, 1, func(int) []any { return slices.Repeat([]any{1.5}, len(columns)) })
			err := db.View(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), "SELECT n FROM "+bad.SQL+" AS v", bad.Param)
				return err
			})
			if err == nil || !strings.Contains(err.Error(), "a record cannot hold a float64") {
				t.Errorf("a value of a type that has no column: %v", err)
			}
		})
	}
}

// Bytes that are no text: SQLite keeps them, PostgreSQL cannot.
func TestRecordsOfBytes(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct{ url, want string }{
		"sqlite": {storetest.SQLiteURL(t), "a\xffb"}, "postgres": {storetest.PostgresURL(t), "a\uFFFDb"},
	} {
		t.Run(kind, func(t *testing.T) {
			db := openTest(t, c.url, sqldb.Options{})
			r := db.Records(1, []sqldb.Field{sqldb.Text("word")}, 1, func(int) []any { return []any{"a\xffb"} })
			var got []string
			err := db.View(t.Context(), func(tx *sqldb.Tx) error {
				return tx.Select(t.Context(), &got, "SELECT word FROM "+r.SQL+" AS v", r.Param)
			})
			if err != nil || !slices.Equal(got, []string{c.want}) {
				t.Errorf("%q, want %q: %v", got, c.want, err)
			}
		})
	}
}
