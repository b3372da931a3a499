package migrations_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/nextrun/nextrun"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// breaking is a migration that this program does not know, and after which it may not run any more.
const breaking = "\n-- oldest: 3\n-- +goose Up\nALTER TABLE periodic_task ADD COLUMN weight integer;\n-- +goose Down\n"

// withMood returns a migrator that knows an additive migration more. TestRollback builds a whole program with it.
func withMood(db *database) *migrations.Migrator {
	db.Helper()
	text, err := os.ReadFile("testdata/newer/" + db.Kind + ".sql")
	if err != nil {
		db.Fatal(err)
	}
	return db.m.With("00002_mood.sql", string(text))
}

// unknownOverlap adds a task with a value that this program would refuse.
var unknownOverlap = map[string]string{
	"postgres": `ALTER TABLE periodic_task DISABLE TRIGGER USER;
		INSERT INTO periodic_task (id, task, timer, overlap, mood, since) VALUES ('odd', 'note', 'every 1s', 'dream', 'odd', '2026-01-01 00:00:00');
		ALTER TABLE periodic_task ENABLE TRIGGER USER`,
	"sqlite": `INSERT INTO periodic_task (id, task, timer, overlap, mood, since) VALUES ('odd', 'note', 'every 1s', 'dream', 'odd', '2026-01-01 00:00:00')`,
}

// unknownDecision writes a tick that this program cannot have written.
var unknownDecision = map[string]string{
	"postgres": `INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('note', '2026-01-01 00:00:00', 'dreamt', LOCALTIMESTAMP)`,
	"sqlite": `PRAGMA ignore_check_constraints = ON; INSERT INTO periodic_tick (task_id, due, decision, decided)
		VALUES ('note', '2026-01-01 00:00:00.000000', 'dreamt', '2026-01-01 00:00:00.000000'); PRAGMA ignore_check_constraints = OFF`,
}

// An older program works on beside a newer one, is started again, and changes nothing that it does not know. One that may
// not run any more is refused, and told why.
func TestOlderAndNewerProgram(t *testing.T) {
	both(t, func(db *database) {
		t := db.TB.(*testing.T) //nolint:forcetypeassert // of this kind of database
		older := startShop(db)
		newer := withMood(db)
		if err := newer.Check(db.Context()); !errors.Is(err, migrations.ErrPending) {
			db.Errorf("the newer program, before it has migrated: %v", err)
		}
		if out, err := newer.ShutsOut(db.Context()); err != nil || out != (migrations.ShutsOut{}) {
			db.Errorf("an additive migration shuts out %+v, %v", out, err)
		}
		applied(db, newer, "00002_mood.sql")
		if list, err := db.m.Status(db.Context()); err != nil || len(list) != 2 || list[0].Newer || list[1].Name != "00002_mood.sql" || !list[1].Newer {
			db.Errorf("the older program knows of the migrations %+v, %v", list, err)
		}
		db.exec(unknownOverlap[db.Kind])
		db.exec(unknownDecision[db.Kind])
		db.check("the older program")
		if err := newer.Check(db.Context()); err != nil {
			db.Errorf("the newer program: %v", err)
		}
		runsOn(db, "the older program that runs")
		restarted := startShop(db)
		runsOn(db, "both")
		stopShop(t, older)
		runsOn(db, "the older program that was started again")
		editsAsOlder(db, restarted.DB())
		db.Want("odd dream", "SELECT mood || ' ' || overlap FROM periodic_task WHERE id = 'odd'")
		db.Want("1", "SELECT count(*) FROM periodic_tick WHERE decision = 'dreamt' AND mood = 'fine'")
		storetest.Eventually(t, "the row whose value is unknown is named", func() bool {
			return strings.HasPrefix(db.one("SELECT coalesce(problem, '') FROM periodic_task WHERE id = 'odd'"), `overlap is "dream"`)
		})
		db.Want("0", "SELECT count(*) FROM periodic_tick WHERE task_id = 'odd'") // it is left alone
		stopShop(t, restarted)

		newest := newer.With("00003_weight.sql", breaking)
		if out, err := newest.ShutsOut(db.Context()); err != nil || out != (migrations.ShutsOut{Below: 3, Known: 2}) || !out.All() {
			db.Errorf("the migration that is not additive shuts out %+v, %v", out, err)
		}
		applied(db, newest, "00003_weight.sql")
		for name, m := range map[string]*migrations.Migrator{"knows 1": db.m, "knows 2": newer} {
			err := m.Check(db.Context())
			if !errors.Is(err, migrations.ErrNewer) || !strings.Contains(err.Error(), "needs programs that know migration 3") || !strings.Contains(err.Error(), name) {
				db.Errorf("Check of an older program: %v", err)
			}
			if _, err := m.Up(db.Context()); !errors.Is(err, migrations.ErrNewer) {
				db.Errorf("Up of an older program: %v", err)
			}
		}
		if _, err := nextrun.Start(db.Context(), shop(db, true)); !errors.Is(err, migrations.ErrNewer) {
			db.Errorf("the older program starts: %v", err)
		}
		if err := newest.Check(db.Context()); err != nil {
			db.Errorf("the newest program: %v", err)
		}
		if _, err := newest.Down(db.Context()); err != nil {
			db.Errorf("Down of the newest program: %v", err)
		}
	})
}

// A program does not take away what a newer one has made, and does not know.
func TestDownOfAnOlderProgram(t *testing.T) {
	bothMade(t, func(db *database) {
		applied(db, withMood(db), "00002_mood.sql")
		before := db.dump()
		if _, err := db.m.Down(db.Context()); !errors.Is(err, migrations.ErrNewer) || !strings.Contains(err.Error(), "the program that made it") {
			db.Errorf("Down: %v", err)
		}
		if db.dump() != before {
			db.Error("it has changed something")
		}
	})
}

func applied(db *database, m *migrations.Migrator, want string) {
	db.Helper()
	done, err := m.Up(db.Context())
	if err != nil || len(done) != 1 || done[0].Name != want {
		db.Fatalf("applied %v, %v; want %s", done, err, want)
	}
}

func shop(db *database, migrate bool) nextrun.Config {
	return nextrun.Config{Name: "shop", URL: db.URL, Migrate: migrate, Logger: slog.New(slog.DiscardHandler),
		Schedules: periodic.Schedules{periodic.NewSchedule("note", "every 1s", 1, func(context.Context, *jobqueue.JobContext, int) error { return nil })}}
}

func startShop(db *database) *nextrun.Service {
	db.Helper()
	s, err := nextrun.Start(db.Context(), shop(db, true))
	if err != nil {
		db.Fatal(err)
	}
	return s
}

func stopShop(t *testing.T, s *nextrun.Service) {
	t.Helper()
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// runsOn waits for ticks and jobs that come from now on.
func runsOn(db *database, who string) {
	db.Helper()
	count := func() string { return db.one("SELECT count(*) FROM job WHERE task = 'note' AND state = 'success'") }
	before := count()
	storetest.Eventually(db, who+": a job has run", func() bool { return count() != before })
}

// editsAsOlder applies and sets tasks, one of which has a value of a newer program.
func editsAsOlder(db *database, older *store.DB) {
	db.Helper()
	tasks := periodic.NewTasks(older.Tasks())
	note := periodic.NewTask("daily-note", "note", "daily")
	if _, err := tasks.Apply(db.Context(), periodic.Apply{Origin: "older", Tasks: []periodic.Task{note}}); err != nil {
		db.Errorf("apply: %v", err)
	}
	set := func(t *periodic.Task) error { t.Summary = "set by the older program"; return nil }
	if err := tasks.Update(db.Context(), "daily-note", set); err != nil {
		db.Errorf("set: %v", err)
	}
	if err := tasks.Update(db.Context(), "odd", set); err == nil || !strings.Contains(err.Error(), "overlap") {
		db.Errorf("set of the row whose value is unknown: %v", err)
	}
	db.Want("fine", "SELECT mood FROM periodic_task WHERE id = 'daily-note'")
}

// A Down that fails has removed nothing.
func TestDownRemovesAllOrNothing(t *testing.T) {
	bothMade(t, func(db *database) {
		db.exec("CREATE VIEW needs AS SELECT id FROM periodic_task")
		if db.Kind == "sqlite" { // drops what a view needs
			db.exec("CREATE TRIGGER keep BEFORE DELETE ON nextrun_migration WHEN OLD.version_id = 1 BEGIN SELECT RAISE(ABORT, 'no'); END")
		}
		before := db.dump("periodic_task", "nextrun_migration", "nextrun_found")
		if _, err := db.m.Down(t.Context()); err == nil {
			t.Fatal("Down was not interrupted")
		}
		if after := db.dump("periodic_task", "nextrun_migration", "nextrun_found"); after != before {
			t.Errorf("something was changed:\n%s\n---\n%s", before, after)
		}
		db.check("after the Down that failed")
		db.exec("DROP VIEW needs")
		if db.Kind == "sqlite" {
			db.exec("DROP TRIGGER keep")
		}
		db.down()
		db.up()
		db.check("after down and up")
	})
}

// A login that may not read the version of the schema learns so, not that the schema is
// too old.
func TestVersionThatMayNotBeRead(t *testing.T) {
	both(t, func(db *database) {
		if db.Kind == storetest.SQLite { // which has no rights
			return
		}
		db.up()
		role := "nextrun_hidden_" + db.one("SELECT md5(current_database())")[:12]
		db.exec("CREATE ROLE " + role)
		db.Cleanup(func() { db.exec("DROP OWNED BY " + role + "; DROP ROLE " + role) })
		guest := migrations.New(db.as(role).SQL.DB, migrations.Postgres)
		db.exec("GRANT SELECT ON periodic_task TO " + role)
		for _, table := range []string{"nextrun_migration", "nextrun_found"} {
			err := guest.CheckVersion(t.Context())
			if !errors.Is(err, sqldb.ErrDenied) || errors.Is(err, migrations.ErrPending) || !strings.Contains(err.Error(), "dist/postgres/roles.sql") ||
				!strings.Contains(err.Error(), "permission denied for table "+table) {
				t.Errorf("%v; want the right that is missing, and the remedy", err)
			}
			db.exec("GRANT SELECT ON " + table + " TO " + role)
		}
		if err := guest.CheckVersion(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
