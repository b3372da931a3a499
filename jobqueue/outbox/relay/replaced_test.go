package relay_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// A relay notices that the SQLite file was replaced, and goes on
// with the new one.
func TestSQLiteFileReplacedUnderARelay(t *testing.T) {
	t.Parallel()
	f, backup := newFixture(migrated.New(t, storetest.SQLite)), newFixture(migrated.New(t, storetest.SQLite))
	r := newReceiver()
	cfg := quick("one")
	cfg.PollInterval = time.Minute
	f.append(events("old", 2)...)
	f.relay(r.publisher(), cfg)
	r.await(f, 2)

	want := backup.append(events("new", 3)...)
	if err := backup.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := backup.SQL.Close(); err != nil {
		t.Fatal(err)
	}
	path := func(f *fixture) string { return strings.TrimPrefix(f.URL, "sqlite:") }
	if err := os.Rename(path(backup), path(f)); err != nil {
		t.Fatal(err)
	}
	r.await(f, 5)
	r.set(func(r *receiver) { r.got = r.got[2:] })
	r.check(f, want)
	after := storetest.At(t, f.URL)
	storetest.Eventually(t, "the new file records what was published", func() bool {
		return after.One(`SELECT count(*) FROM outbox_message WHERE published IS NULL`) == "0"
	})
}
