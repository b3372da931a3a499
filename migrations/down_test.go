package migrations_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/migrations"
)

// A Down that was interrupted leaves what Up cannot go on from. Everybody says so, and
// another Down ends it.
func TestInterruptedDownGoesOn(t *testing.T) {
	bothMade(t, func(db *database) {
		db.m = db.m.WithFiles(withNext(t, "CREATE TABLE next (id integer);", "DROP TABLE next;"))
		db.up()
		db.exec("CREATE TABLE mine (id integer PRIMARY KEY); CREATE VIEW needs AS SELECT id FROM periodic_task")
		if db.Kind == "sqlite" { // drops what a view needs
			db.exec("CREATE TRIGGER keep BEFORE DELETE ON nextrun_migration WHEN OLD.version_id = 22 BEGIN SELECT RAISE(ABORT, 'no'); END")
		}
		if _, err := db.m.Down(t.Context()); err == nil {
			t.Fatal("Down was not interrupted")
		}
		for what, err := range map[string]error{"Check": db.m.Check(t.Context()), "Up": up(db)} {
			if !errors.Is(err, migrations.ErrHalfDown) || !strings.Contains(err.Error(), "nextrun migrate down --yes") {
				t.Errorf("%s: %v", what, err)
			}
		}
		db.exec("DROP VIEW needs")
		if db.Kind == "sqlite" {
			db.exec("DROP TRIGGER keep")
		}
		db.down()
		db.up()
		if err := db.m.Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// One that had not taken anything back yet is forgotten.
func TestDownThatHadNotBegunIsForgotten(t *testing.T) {
	bothMade(t, func(db *database) {
		db.exec("INSERT INTO nextrun_found (name) VALUES ('migrate down')")
		for range 2 {
			if err := errors.Join(up(db), db.m.Check(t.Context())); err != nil {
				t.Error(err)
			}
		}
		db.want("0", "SELECT count(*) FROM nextrun_found WHERE name = 'migrate down'")
	})
}

func up(db *database) error {
	_, err := db.m.Up(db.Context())
	return err
}

// The mark of a scheduler that was killed does not stay in a table that does. Docspell's own do.
func TestDownRemovesMarks(t *testing.T) {
	both(t, func(db *database) {
		db.execFile("../testdata/docspell/adr0012.sql")
		for mark, left := range map[string]string{"vm@83cef8e5790f.3": "", "joex1": "joex1"} {
			db.up()
			db.exec("UPDATE periodic_task SET worker = '" + mark + "', marked = '2026-01-01 00:00:00.000000'")
			db.down()
			db.want(left, "SELECT coalesce(worker, '') FROM periodic_task")
		}
	})
}
