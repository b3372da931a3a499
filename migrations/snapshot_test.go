package migrations_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

var update = flag.Bool("update", false, "write the snapshots of the schema")

const foundLock = `CREATE TABLE scheduler_lock (name varchar(254) NOT NULL PRIMARY KEY, holder varchar(254) NOT NULL,
	hostname varchar(254) NOT NULL, pid integer NOT NULL, token bigint NOT NULL, acquired timestamp NOT NULL,
	heartbeat timestamp NOT NULL, expires timestamp NOT NULL)`

// The embedded description of the schema is what the migrations make.
func TestSnapshotIsWhatTheMigrationsMake(t *testing.T) {
	t.Parallel()
	storetest.Kinds(t, func(t *testing.T, kind string) {
		fresh, found, bare := open(storetest.New(t, kind)), open(storetest.New(t, kind)), open(storetest.New(t, kind))
		bare.m = bare.m.WithoutJobs()
		found.execFile("../testdata/docspell/adr0012.sql")
		found.exec(foundLock)
		for _, db := range []*database{fresh, found, bare} {
			if _, err := db.m.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		text, err := fresh.m.Snapshot(t.Context(), found.m, bare.m)
		if err != nil {
			t.Fatal(err)
		}
		path := "snapshot/" + kind + ".json"
		if *update {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		if want, err := os.ReadFile(path); err != nil || !bytes.Equal(want, text) {
			t.Errorf("%s is not what the migrations make (%v); after a new migration run: make snapshot", path, err)
		}
	})
}

// What is restored in a schema of another name must not name the one in which the snapshot was made.
func TestSnapshotNamesNoSchema(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("snapshot/postgres.json")
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.Index(string(text), "public."); i >= 0 {
		t.Errorf("it names a schema, whose word before it inspect.go has to know: %s", text[max(0, i-100):min(len(text), i+100)])
	}
}
