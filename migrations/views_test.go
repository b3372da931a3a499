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

// A task that fails every two seconds is stale, although its newest ticks are too young to tell.
func TestFrequentTasksAreStale(t *testing.T) {
	bothMade(t, func(db *database) {
		ago := "(now() AT TIME ZONE 'UTC') - n * interval '2 s'"
		if db.Kind == "sqlite" {
			ago = "strftime('%Y-%m-%d %H:%M:%f', 'now', (-2 * n) || ' seconds')"
		}
		const series = " FROM (WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 90) SELECT n FROM s) AS s"
		db.exec("INSERT INTO periodic_task (id, task, timer) VALUES ('often', 'x', 'every 2s');" +
			"INSERT INTO job (jid, task, tracker, single, state, finished) SELECT 'often-' || n, 'x', 'often', false, 'failed', " + ago + series + ";" +
			"INSERT INTO periodic_tick (task_id, due, decision, decided, jid) SELECT 'often', " + ago + ", 'submitted', " + ago + ", 'often-' || n" + series)
		db.want("1", "SELECT count(*) FROM periodic_stale WHERE id = 'often' AND state = 'failed' AND last_success IS NULL")
	})
}
