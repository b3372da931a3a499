package migrations_test

import (
	"strings"
	"testing"
)

// wrongValues are values that no scheduler can use, with what the refusal says after the column.
var wrongValues = []struct{ column, value, remedy string }{
	{"nextrun", "'0001-01-01 00:00:00'", "between 1970-01-01 and 9999-12-31"},
	{"nextrun", "'10000-01-01 00:00:00'", "between 1970-01-01 and 9999-12-31"},
	{"nextrun", "'-infinity'", "between 1970-01-01 and 9999-12-31"},
	{"ends", "'infinity'", ", or NULL"},
	{"starts", "'0001-01-01 00:00:00'", "between 1970-01-01 and 9999-12-31, or NULL"},
	{"ends", "'2025-01-01 00:00:00'", "starts"},
	{"paused", "'0001-01-01 00:00:00'", "to resume it set it to NULL"},
	{"paused_until", "'0001-01-01 00:00:00'", "or NULL"},
	{"overlap", "'maybe'", "skip, queue, replace or allow"},
	{"catchup", "'some'", "one, none or all"},
	{"catchup_limit", "0", "1 to 10000, or NULL for all"},
	{"grace", "-1", "seconds, 0 or more"},
	{"deadline", "-1", "seconds, 0 or more, or NULL for none"},
	{"jitter", "-1", "seconds, 0 or more"},
	{"sink", "'My queue'", "job, event or the name of a queue"},
	{"retry_limit", "-1", "0 to 1000000, or NULL"},
	{"retry_delay", "0", "1 to 31536000 seconds, or NULL"},
	{"timeout", "0", "1 to 31536000 seconds, or NULL"},
	{"pause_after", "0", "1 to 1000000, or NULL for never"},
}

// A value that cannot be used is refused with the column and the remedy, inserted or edited. One that is there is no
// obstacle to other edits.
func TestValuesAreRefusedWithTheRemedy(t *testing.T) {
	bothMade(t, func(db *database) {
		db.exec("INSERT INTO periodic_task (id, task, timer, starts) VALUES ('a', 'x', 'daily', '2026-01-01 00:00:00')")
		for _, w := range wrongValues {
			for _, statement := range []string{
				"INSERT INTO periodic_task (id, task, timer, starts, " + w.column + ") VALUES ('b', 'x', 'daily', '2026-01-01 00:00:00', " + w.value + ")",
				"UPDATE periodic_task SET " + w.column + " = " + w.value,
			} {
				statement = strings.Replace(statement, "starts, starts) VALUES ('b', 'x', 'daily', '2026-01-01 00:00:00', ", "starts) VALUES ('b', 'x', 'daily', ", 1)
				_, err := db.SQL.Exec(statement)
				if err == nil || !strings.Contains(err.Error(), ": "+w.column+" ") || !strings.Contains(err.Error(), w.remedy) {
					db.Errorf("%s: %v, want an error that names %s and says %q", statement, err, w.column, w.remedy)
				}
			}
		}
		db.exec(map[string]string{
			"postgres": "ALTER TABLE periodic_task DISABLE TRIGGER USER; UPDATE periodic_task SET grace = -5; ALTER TABLE periodic_task ENABLE TRIGGER USER",
			"sqlite":   "DROP TRIGGER nextrun_task_refuse_edited; UPDATE periodic_task SET grace = -5",
		}[db.Kind])
		for _, o := range db.missing() {
			db.exec(o)
		}
		db.exec("UPDATE periodic_task SET priority = 3 WHERE id = 'a'")
		db.want("3", "SELECT priority FROM periodic_task WHERE id = 'a' AND grace = -5")
	})
}

// missing are the statements that make what was dropped.
func (db *database) missing() (list []string) {
	db.Helper()
	objects, err := db.m.Missing(db.Context())
	if err != nil {
		db.Fatal(err)
	}
	for _, o := range objects {
		list = append(list, o.Create)
	}
	return list
}
