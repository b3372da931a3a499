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

// TestRiverBadRows: only the bad jobs of a batch are refused, in the words of the
// database, and quickly.
func TestRiverBadRows(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		jobs := f.tasks(200)
		f.Exec(`UPDATE periodic_task SET args = '{"broken": ' WHERE id = 't50'`)
		jobs[1].Task = strings.Repeat("é", 128)
		jobs[2].Group = strings.Repeat("q", 128)
		jobs[3].Task = ""
		jobs[4].Priority = 11
		jobs[5].Task = strings.Repeat("é", 127)
		want := map[string]string{"t1": "127 characters", "t2": "127 characters", "t3": "task is empty", "t4": "priority is 11", "t50": "JSON"}
		if f.Kind == storetest.Postgres {
			f.Exec(`UPDATE periodic_task SET args = '{"nul": "\u0000"}' WHERE id = 't90'`)
			want["t50"], want["t90"] = "invalid input syntax for type json", `\u0000 cannot be converted`
		}
		done := f.sortOut(q, jobs...)
		trackers := map[string]string{}
		for _, j := range jobs {
			trackers[j.JID] = j.Tracker
		}
		refused := 0
		for _, s := range done {
			if s.Refused == "" {
				continue
			}
			refused++
			if id := trackers[s.JID]; want[id] == "" || !strings.Contains(s.Refused, want[id]) || s.Passing {
				t.Errorf("%s refused: %q, passing %v; want %q, for good", id, s.Refused, s.Passing, want[id])
			}
		}
		if refused != len(want) || len(done) != 200 {
			t.Errorf("%d of %d refused, want %d of 200", refused, len(done), len(want))
		}
		f.Want(200-len(want), "SELECT count(*) FROM river_job")
	})
}

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

func TestRiverProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		level            int
		sql              string
		postgres, sqlite string
	}{
		"no tables": {0, "", `relation "river_job" does not exist; run: river migrate-up`, "no such table: river_job; run: river migrate-up"},
		"half migrated": {7, "DROP INDEX river_job_unique_idx; ALTER TABLE river_job DROP COLUMN unique_states",
			`column "unique_states" of relation "river_job" does not exist`, "no column named unique_states"},
		"a renamed column": {7, "ALTER TABLE river_job RENAME COLUMN tags TO labels",
			`column "tags" of relation "river_job" does not exist`, "no column named tags"},
	} {
		t.Run(name, func(t *testing.T) {
			migrated.Both(t, func(t *testing.T, d *migrated.Database) {
				f := newFixture(t, d.Database)
				if c.level > 0 {
					f.run(riverFiles(d.Database, c.level)...)
					f.Exec(c.sql)
				}
				f.unusable(f.queue(queues.River{}), map[string]string{storetest.Postgres: c.postgres, storetest.SQLite: c.sqlite}[f.Kind])
			})
		})
	}
}

// TestRiverBecomesUsable: nobody has to restart a scheduler.
func TestRiverBecomesUsable(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		f := newFixture(t, d.Database)
		q := f.queue(queues.River{})
		job := f.task("one", "{}")
		f.unusable(q, "river_job")
		f.run(riverFiles(d.Database, 7)...)
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

func TestRiverHasNoSchemaOnSQLite(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		_, err := queues.OpenIn(open(t, d.URL), queues.River{Schema: "river"})
		if d.Kind == storetest.SQLite && (err == nil || !strings.Contains(err.Error(), "SQLite has no schemas")) || d.Kind == storetest.Postgres && err != nil {
			t.Errorf("the error is %v", err)
		}
	})
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
