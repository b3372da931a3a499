package relay_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// A relay and a consumer notice that the SQLite file was replaced, and go on
// with the new one.
func TestSQLiteFileReplacedUnderARelay(t *testing.T) {
	t.Parallel()
	f, backup := newFixture(migrated.New(t, storetest.SQLite)), newFixture(migrated.New(t, storetest.SQLite))
	relayed, consumed := newReceiver(), newReceiver()
	cfg := quick("one")
	cfg.PollInterval = time.Minute
	f.append(events("old", 2)...)
	f.relay(relayed.publisher(), cfg)
	f.consumer("g", consumed.receive, cfg)
	relayed.await(f, 2)
	consumed.await(f, 2)

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
	for _, r := range []*receiver{relayed, consumed} {
		r.await(f, 5)
		r.set(func(r *receiver) { r.got = r.got[2:] })
		r.check(f, want)
	}
	after := storetest.At(t, f.URL)
	storetest.Eventually(t, "the new file records what was published", func() bool {
		return after.One(`SELECT count(*) FROM outbox_message WHERE published IS NULL`) == "0"
	})
}
