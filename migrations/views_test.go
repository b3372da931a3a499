package migrations_test

import "testing"

// One odd value hid all rows of a view.
func TestUpgradeMendsViews(t *testing.T) {
	both(t, func(db *database) {
		const health, lag = "SELECT missed_24h FROM periodic_health WHERE missed_24h > 0 ORDER BY missed_24h LIMIT 1",
			"SELECT topic FROM outbox_lag WHERE age > 0"
		db.old(".", 16)
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

// A task that fails every two seconds never was in periodic_stale.
func TestUpgradeShowsFrequentTasksAsStale(t *testing.T) {
	both(t, func(db *database) {
		db.old(".", 18)
		ago := "(now() AT TIME ZONE 'UTC') - n * interval '2 s'"
		if db.Kind == "sqlite" {
			ago = "strftime('%Y-%m-%d %H:%M:%f', 'now', (-2 * n) || ' seconds')"
		}
		const series = " FROM (WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 90) SELECT n FROM s) AS s"
		db.exec("INSERT INTO periodic_task (id, task, timer) VALUES ('often', 'x', 'every 2s');" +
			"INSERT INTO job (jid, task, tracker, single, state, finished) SELECT 'often-' || n, 'x', 'often', false, 'failed', " + ago + series + ";" +
			"INSERT INTO periodic_tick (task_id, due, decision, decided, jid) SELECT 'often', " + ago + ", 'submitted', " + ago + ", 'often-' || n" + series)
		const stale = "SELECT count(*) FROM periodic_stale WHERE id = 'often' AND state = 'failed' AND last_success IS NULL"
		db.want("0", stale)
		db.up()
		db.want("1", stale)
		db.down()
	})
}
