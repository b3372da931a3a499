package queues_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
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
		files func(*storetest.Database) []string
		sql   string
		kind  queues.River
		want  string
	}{
		"no tables": {want: "there is no table river_job in this database: run: river migrate-up"},
		"too old": {
			files: func(d *storetest.Database) []string { return riverFiles(d, 6) },
			sql:   "DELETE FROM river_migration WHERE version > 4",
			want:  "River's schema is at level 4; nextrun needs 6 or newer: run river migrate-up",
		},
		"half migrated": {
			files: func(d *storetest.Database) []string { return riverFiles(d, 6) },
			sql:   "DROP INDEX river_job_unique_idx; ALTER TABLE river_job DROP COLUMN unique_states",
			want:  "no column unique_states",
		},
		"a column that nextrun does not know": {
			files: func(d *storetest.Database) []string { return riverFiles(d, 6) },
			sql:   "ALTER TABLE river_job RENAME COLUMN max_attempts TO tries",
			want:  "column tries that needs a value",
		},
		"a renamed column": {
			files: func(d *storetest.Database) []string { return riverFiles(d, 6) },
			sql:   "ALTER TABLE river_job RENAME COLUMN tags TO labels",
			want:  "table river_job has no column tags, which nextrun writes: restore what was renamed or dropped",
		},
	} {
		t.Run(name, func(t *testing.T) {
			migrated.Both(t, func(t *testing.T, d *migrated.Database) {
				var files []string
				if c.files != nil {
					files = c.files(d.Database)
				}
				f := newFixture(t, d.Database, files...)
				f.Exec(c.sql)
				f.unusable(f.queue(c.kind), c.want)
			})
		})
	}
}

// TestRiverInAnotherSchema: the error says where River's tables are.
func TestRiverInAnotherSchema(t *testing.T) {
	t.Parallel()
	f := newFixture(t, migrated.New(t, storetest.Postgres).Database)
	f.Exec(`CREATE SCHEMA side; CREATE TABLE side.river_job (id integer); CREATE SCHEMA "Else"`)
	f.unusable(f.queue(queues.River{}), "there is no table river_job in the search path, but one in side: set schema to where this queue is")
	f.unusable(f.queue(queues.River{Schema: "Else"}), "there is no table river_job in the schema Else, but one in side: set schema")
}

// TestRiverBecomesUsable: nobody has to restart a scheduler.
func TestRiverBecomesUsable(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		f := newFixture(t, d.Database)
		q := f.queue(queues.River{})
		job := f.task("one", "{}")
		f.unusable(q, "no table river_job")
		f.run(riverFiles(d.Database, 6)...)
		open := f.accept(q, job)
		f.Exec("ALTER TABLE river_job RENAME TO hidden")
		f.unusable(q, "no table river_job")
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
	role := f.bareRole()
	f.Exec(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ` + role)
	q := f.queue(queues.River{Schema: "Side-Jobs"})
	job := f.task("one", "{}")
	grants := []string{
		`GRANT USAGE ON SCHEMA "Side-Jobs" TO ` + role, `GRANT SELECT, INSERT, UPDATE ON "Side-Jobs"."river_job" TO ` + role,
		`GRANT USAGE ON SEQUENCE "Side-Jobs".river_job_id_seq TO ` + role,
	}
	f.as(role, func(ctx context.Context, tx jobqueue.DBTX) {
		_, err := q.Submit(ctx, tx, []jobqueue.Job{job})
		for _, want := range append(grants, `role `+role+` lacks rights on "Side-Jobs"."river_job"`) {
			if !errors.Is(err, queues.ErrUnusable) || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want %s", err, want)
			}
		}
	})
	report, err := q.Inspect(t.Context()) // as the owner, who may
	if err != nil || len(report.Problems) > 0 || report.Found != "schema level 7" {
		t.Errorf("report %+v, %v", report, err)
	}
	heard := f.hear("Side-Jobs.river_insert")
	f.as(role, func(ctx context.Context, tx jobqueue.DBTX) {
		_, err := tx.ExecContext(ctx, "RESET ROLE")
		for _, grant := range grants {
			if err == nil {
				_, err = tx.ExecContext(ctx, grant)
			}
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "SET LOCAL ROLE "+role)
		}
		if err == nil {
			err = q.(prober).Probe(ctx, tx)
		}
		if err != nil {
			t.Fatal(err)
		}
		done, err := q.Submit(ctx, tx, []jobqueue.Job{job})
		if err != nil || done[0].Ref == "" {
			t.Errorf("with these rights: %+v, %v", done, err)
		}
	})
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
