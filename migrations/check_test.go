package migrations_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/migrations"
)

const foundLock = `CREATE TABLE scheduler_lock (name varchar(254) NOT NULL PRIMARY KEY, holder varchar(254) NOT NULL,
	hostname varchar(254) NOT NULL, pid integer NOT NULL, token bigint NOT NULL, acquired timestamp NOT NULL,
	heartbeat timestamp NOT NULL, expires timestamp NOT NULL)`

// Check names what somebody has dropped, with the statement that makes it, and is content when that has run.
func TestWhatIsMissingIsNamed(t *testing.T) {
	on := map[string]map[string]string{
		"postgres": {"trigger": " ON periodic_task", "cascade": " CASCADE"},
		"sqlite":   {"trigger": "", "cascade": ""},
	}
	bothMade(t, func(db *database) {
		for drop, object := range map[string]string{
			"DROP INDEX nextrun_job_pending":                               "index nextrun_job_pending on job",
			"DROP VIEW periodic_health":                                    "view periodic_health",
			"DROP TRIGGER nextrun_task_deleted" + on[db.Kind]["trigger"]:   "trigger nextrun_task_deleted on periodic_task",
			"DROP TABLE outbox_message" + on[db.Kind]["cascade"]:           "table outbox_message",
			"ALTER TABLE worker DROP COLUMN trouble":                       "column worker.trouble",
			"DROP TABLE jobgroupuse; CREATE TABLE jobgroupuse (x integer)": "column jobgroupuse.groupid",
		} {
			db.named(drop, object)
		}
		if db.Kind == "postgres" {
			db.named("DROP FUNCTION nextrun_wake CASCADE", "function nextrun_wake")
		}
	})
}

func (db *database) named(drop, object string) {
	db.Helper()
	db.exec(drop)
	var missing *migrations.MissingError
	if err := db.m.Check(db.Context()); !errors.As(err, &missing) || !strings.Contains(err.Error(), object) {
		db.Fatalf("Check after %s: %v; it should name %s", drop, err, object)
	}
	if breaks := strings.HasPrefix(object, "table") || strings.HasPrefix(object, "column"); breaks != missing.Breaks() {
		db.Errorf("Breaks after %s is %v", drop, missing.Breaks())
	}
	if done, err := db.m.Up(db.Context()); err != nil || len(done) > 0 {
		db.Errorf("Up after %s did %v: %v", drop, done, err)
	}
	for range 2 { // indexes and triggers of a table are named when it is there
		list, err := db.m.Missing(db.Context())
		if err != nil {
			db.Fatal(err)
		}
		for _, o := range list {
			db.exec(o.Create)
		}
	}
	db.check("after " + drop + " and the statements that make it")
}

// What users and other programs add is none of nextrun's business, nor are the
// tables that they made.
func TestOwnAdditionsAreNotMissed(t *testing.T) {
	both(t, func(db *database) {
		db.execFile("../testdata/docspell/adr0012.sql")
		db.exec("CREATE INDEX mine ON job (subject)")
		db.exec(foundLock)
		db.up()
		db.exec("CREATE TABLE invoice (id integer); ALTER TABLE periodic_task ADD COLUMN team text; CREATE INDEX own ON periodic_task (team)")
		db.check("with additions")
		db.exec("DROP INDEX nextrun_task_due")
		if err := db.m.Check(db.Context()); err == nil || !strings.Contains(err.Error(), "nextrun_task_due") {
			db.Errorf("without an index of nextrun's: %v", err)
		}
	})
}

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
