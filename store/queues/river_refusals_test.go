package queues_test

import (
	"strings"
	"testing"

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
