package queues_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/queues"
)

// TestRiverBatchThatFailsAlike blames no job: what all fail with is not their fault.
func TestRiverBatchThatFailsAlike(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		f.accept(q, f.task("before", "{}"))
		f.Exec(map[string]string{
			storetest.Postgres: `ALTER TABLE river_job ADD CHECK (kind <> 'report') NOT VALID`,
			storetest.SQLite:   `CREATE TRIGGER no BEFORE INSERT ON river_job BEGIN SELECT RAISE(ABORT, 'no CHECK (kind'); END`,
		}[f.Kind])
		done, err := f.submit(q, f.tasks(40)...)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), "check") {
			t.Errorf("submitted %d, %v; want an error about the check", len(done), err)
		}
	})
}

// TestRiverBecomesUsable: nobody has to restart a scheduler.
func TestRiverBecomesUsable(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		f := newFixture(t, d.Database)
		q := f.queue(queues.River{})
		job := f.task("one", "{}")
		f.unusable(q, "river_job")
		f.run("river_"+d.Kind+"_6.sql", "river_"+d.Kind+"_7.sql")
		open := f.accept(q, job)
		f.Exec("ALTER TABLE river_job RENAME TO hidden")
		f.unusable(q, "river_job")
		f.Exec("ALTER TABLE hidden RENAME TO river_job")
		if got := f.pending(q, open...); len(got) != 1 {
			t.Errorf("pending %+v, want the job", got)
		}
	})
}

func TestRiverInSchemaWithRole(t *testing.T) {
	t.Parallel()
	f := newFixture(t, migrated.New(t, storetest.Postgres).Database)
	f.Exec(`CREATE SCHEMA "Side-Jobs"`)
	f.Exec(`SET search_path = "Side-Jobs"; ` + f.script("river_postgres_6.sql") + f.script("river_postgres_7.sql") + `; RESET search_path`)
	q := f.queue(queues.River{Schema: "Side-Jobs"})
	if r := f.report(q); len(r.Problems) > 0 {
		t.Errorf("report %+v", r)
	}
	heard := f.hear("Side-Jobs.river_insert")
	job := f.task("one", "{}")
	role := f.role()
	of := role.queue(queues.River{Schema: "Side-Jobs"})
	role.unusable(of, "permission denied for schema Side-Jobs")
	f.Exec(`GRANT USAGE ON SCHEMA "Side-Jobs" TO ` + role.name + `; GRANT SELECT, INSERT, UPDATE ON "Side-Jobs".river_job TO ` + role.name +
		`; GRANT USAGE ON SEQUENCE "Side-Jobs".river_job_id_seq TO ` + role.name)
	role.accept(of, job)
	if got := heard(1); got[0] != `{"queue" : "mail"}` {
		t.Errorf("heard %q", got)
	}
}

// TestRiverErrorsOfAnotherTable: what a trigger of the user's lacks is no table of
// nextrun.
func TestRiverErrorsOfAnotherTable(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		f.Exec(map[string]string{
			storetest.Postgres: `CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO event_copy VALUES (NEW.id); RETURN NEW; END $$;
				CREATE TRIGGER keep AFTER INSERT ON river_job FOR EACH ROW EXECUTE FUNCTION keep()`,
			storetest.SQLite: `CREATE TRIGGER keep AFTER INSERT ON river_job BEGIN INSERT INTO event_copy VALUES (NEW.id); END`,
		}[f.Kind])
		_, err := f.submit(f.queue(queues.River{}), f.task("t", "{}"))
		if !errors.Is(err, queues.ErrUnusable) || errors.Is(err, sqldb.ErrNoSchema) || !strings.Contains(err.Error(), "event_copy") {
			t.Errorf("the error is %v, want one about event_copy that does not send for nextrun's migrations", err)
		}
	})
}
