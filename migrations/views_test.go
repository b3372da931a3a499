package migrations_test

import "testing"

// One odd value hides no row of a view.
func TestOddValuesHideNoRows(t *testing.T) {
	bothMade(t, func(db *database) {
		db.exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('old', 'x', 'daily'), ('paused', 'x', 'daily')`)
		odd, now := "-2147483648", "now() AT TIME ZONE 'UTC'"
		if db.Kind == "sqlite" {
			odd, now = "-9223372036854775807 - 1", "strftime('%Y-%m-%d %H:%M:%f', 'now')"
		}
		db.exec("INSERT INTO periodic_tick (task_id, due, decision, missed, decided) VALUES ('old', " + now + ", 'missed', " + odd + ", " + now + "), ('paused', " + now + ", 'missed', 7, " + now + ")")
		db.want("7", "SELECT missed_24h FROM periodic_health WHERE missed_24h > 0 ORDER BY missed_24h LIMIT 1")
	})
}
