package sqldb_test

import (
	"database/sql"
	"errors"
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
