package migrations_test

import "testing"

// A Down that fails has removed nothing.
func TestDownRemovesAllOrNothing(t *testing.T) {
	bothMade(t, func(db *database) {
		db.exec("CREATE VIEW needs AS SELECT id FROM periodic_task")
		if db.Kind == "sqlite" { // drops what a view needs
			db.exec("CREATE TRIGGER keep BEFORE DELETE ON nextrun_migration WHEN OLD.version_id = 1 BEGIN SELECT RAISE(ABORT, 'no'); END")
		}
		before := db.dump("periodic_task", "nextrun_migration", "nextrun_found")
		if _, err := db.m.Down(t.Context()); err == nil {
			t.Fatal("Down was not interrupted")
		}
		if after := db.dump("periodic_task", "nextrun_migration", "nextrun_found"); after != before {
			t.Errorf("something was changed:\n%s\n---\n%s", before, after)
		}
		db.check("after the Down that failed")
		db.exec("DROP VIEW needs")
		if db.Kind == "sqlite" {
			db.exec("DROP TRIGGER keep")
		}
		db.down()
		db.up()
		db.check("after down and up")
	})
}
