package migrations_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/migrations"
)

// damages are changes of the schema, with the object that Check has to name.
// Those for one database only have its name before a colon.
var damages = []struct{ statement, object string }{
	{"DROP INDEX nextrun_job_pending", "index nextrun_job_pending on job is missing"},
	{"DROP INDEX nextrun_job_waiting; CREATE INDEX nextrun_job_waiting ON job (group_) WHERE state = 'waiting'", "index nextrun_job_waiting on job is different"},
	{"DROP VIEW periodic_health", "view periodic_health is missing"},
	{"DROP TABLE periodic_ready", "table periodic_ready is missing"},
	{"DROP TABLE job_pause", "table job_pause is missing"},
	{"postgres:ALTER TABLE job DROP COLUMN interrupts", "column job.interrupts is missing"},
	{"sqlite:DROP TRIGGER nextrun_job_refuse_added; DROP TRIGGER nextrun_job_refuse_moved; ALTER TABLE job DROP COLUMN interrupts", "column job.interrupts is missing"},
	{"sqlite:DROP TRIGGER nextrun_job_ended", "trigger nextrun_job_ended on job is missing"},
	{"sqlite:DROP TRIGGER nextrun_task_deleted; CREATE TRIGGER nextrun_task_deleted AFTER DELETE ON periodic_task BEGIN SELECT 1; END",
		"trigger nextrun_task_deleted on periodic_task is different"},
	{"sqlite:CREATE TRIGGER nextrun_old AFTER DELETE ON job BEGIN SELECT 1; END", "trigger nextrun_old on job is not of this version"},
	{"sqlite:DROP VIEW outbox_lag; CREATE VIEW outbox_lag AS SELECT 1 AS topic", "view outbox_lag is different"},
	{"postgres:DROP TRIGGER nextrun_job_ended ON job", "trigger nextrun_job_ended on job is missing"},
	{"postgres:ALTER TABLE periodic_task DISABLE TRIGGER nextrun_task_edited", "trigger nextrun_task_edited on periodic_task is different"},
	{"postgres:DROP FUNCTION nextrun_event_added CASCADE", "function nextrun_event_added is missing"},
	{"postgres:ALTER FUNCTION nextrun_job_ended SECURITY INVOKER", "function nextrun_job_ended is different"},
	{"postgres:ALTER FUNCTION nextrun_task_edited RESET search_path", "function nextrun_task_edited is different"},
	{"postgres:CREATE FUNCTION nextrun_old() RETURNS int LANGUAGE sql AS 'SELECT 1'", "function nextrun_old is not of this version"},
	{"postgres:ALTER TABLE periodic_task DROP CONSTRAINT nextrun_overlap", "constraint nextrun_overlap on periodic_task is missing"},
	{"postgres:ALTER TABLE job ALTER COLUMN priority DROP DEFAULT", "column job.priority has no default"},
	{"postgres:CREATE OR REPLACE VIEW periodic_upcoming AS SELECT id, task, group_, timer, due, nextrun, NULL::interval AS waits, summary FROM periodic_task",
		"view periodic_upcoming is different"},
}

// Check tells a schema that somebody has changed from one that is not up to date,
// names what is missing or different, and Up restores it.
func TestChangedSchemaIsNamedAndRestored(t *testing.T) {
	bothMade(t, func(db *database) {
		db.exec("INSERT INTO job (jid, task) VALUES ('kept', 'x')")
		for _, damage := range damages { // each is restored before the next
			kind, statement, one := strings.Cut(damage.statement, ":")
			if !one {
				db.damage(damage.statement, damage.object)
			} else if kind == db.Kind {
				db.damage(statement, damage.object)
			}
		}
	})
}

func (db *database) damage(statement, object string) {
	db.Helper()
	db.exec(statement)
	err := db.m.Check(db.Context())
	var drift *migrations.DriftError
	if !errors.As(err, &drift) || errors.Is(err, migrations.ErrPending) || !strings.Contains(err.Error(), object) ||
		!strings.Contains(err.Error(), "nextrun migrate up") {
		db.Fatalf("Check after %s: %v; it should name %s", statement, err, object)
	}
	if breaks := strings.HasPrefix(object, "table") || strings.HasPrefix(object, "column job.") &&
		strings.HasSuffix(object, "missing"); breaks != drift.Breaks() {
		db.Errorf("Breaks after %s is %v", statement, drift.Breaks())
	}
	restored, err := db.m.Up(db.Context())
	if err != nil || len(restored) == 0 || !restored[0].Restored {
		db.Fatalf("Up after %s restores %v: %v", statement, restored, err)
	}
	if err := db.m.Check(db.Context()); err != nil {
		db.Fatalf("after %s and Up: %v", statement, err)
	}
	db.want("1", "SELECT count(*) FROM job WHERE jid = 'kept'")
}

// What users and other programs add is none of nextrun's business, nor are the
// tables that they made.
func TestOwnAdditionsAreNoDifference(t *testing.T) {
	both(t, func(db *database) {
		db.execFile("../testdata/docspell/adr0012.sql")
		db.exec("CREATE INDEX mine ON job (subject)")
		db.exec(foundLock)
		if done, err := db.m.Up(db.Context()); err != nil || slices.ContainsFunc(done, func(a migrations.Applied) bool { return a.Restored }) {
			db.Fatalf("Up did %v: %v", done, err)
		}
		db.exec("CREATE TABLE invoice (id integer); ALTER TABLE periodic_task ADD COLUMN team text; CREATE INDEX own ON periodic_task (team)")
		if err := db.m.Check(db.Context()); err != nil {
			db.Error(err)
		}
		db.exec("DROP INDEX nextrun_task_due")
		if err := db.m.Check(db.Context()); err == nil || !strings.Contains(err.Error(), "nextrun_task_due") {
			db.Errorf("without an index of nextrun's: %v", err)
		}
		db.up()
		db.want("0", "SELECT count(*) FROM invoice WHERE id IS NOT NULL")
		if err := db.m.Check(db.Context()); err != nil {
			db.Error(err)
		}
	})
}

// A constraint of SQLite cannot be restored in place, so the remedy says how else.
func TestWhatCannotBeRestoredHasARemedy(t *testing.T) {
	bothMade(t, func(db *database) {
		if db.Kind == "sqlite" {
			db.exec("DROP VIEW outbox_lag; DROP TABLE outbox_message; CREATE TABLE outbox_message (id integer NOT NULL PRIMARY KEY, event_id varchar(254))")
		} else {
			db.exec("ALTER TABLE job ALTER COLUMN subject TYPE varchar(10)")
		}
		_, err := db.m.Up(db.Context())
		if err == nil {
			err = db.m.Check(db.Context())
		}
		if err == nil || !strings.Contains(err.Error(), map[string]string{"sqlite": "outbox_message", "postgres": "expected: character varying(254) NOT NULL"}[db.Kind]) {
			db.Errorf("Check: %v", err)
		}
	})
}
