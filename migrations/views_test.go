package migrations_test

import "testing"

// One odd value hid all rows of a view.
func TestUpgradeMendsViews(t *testing.T) {
	both(t, func(db *database) {
		const health, lag = "SELECT missed_24h FROM periodic_health WHERE missed_24h > 0 ORDER BY missed_24h LIMIT 1",
			"SELECT topic FROM outbox_lag WHERE age > 0"
		db.old(".", newestUpgraded)
		odd, now, failing := "-2147483648", "now() AT TIME ZONE 'UTC'", []string{health, lag}
		if db.Kind == "sqlite" { // which has no infinite times
			odd, now, failing = "-9223372036854775807 - 1", "strftime('%Y-%m-%d %H:%M:%f', 'now')", failing[:1]
		} else {
			db.exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('odd', 'odd', 'y', 'odd', 1), ('beside', 't', 'y', 'a', 2);
				INSERT INTO outbox_message (event_id, topic, created) VALUES ('odd', 'odd', 'infinity'), ('beside', 't', 'infinity')`)
		}
		db.exec("INSERT INTO periodic_tick (task_id, due, decision, missed, decided) VALUES ('old', " + now + ", 'missed', " + odd + ", " + now + "), ('paused', " + now + ", 'missed', 7, " + now + ")")
		for _, query := range failing {
			var got string
			if err := db.SQL.GetContext(t.Context(), &got, query); err == nil {
				t.Errorf("before the upgrade %s: %s, want an error", query, got)
			}
		}
		db.up()
		db.want("7", health)
		db.want("t", lag)
		db.down()
	})
}
