package migrations_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

const theirJobs = "CREATE TABLE job (id integer PRIMARY KEY, what text); INSERT INTO job VALUES (1, 'theirs')"

func (db *database) without() {
	db.Helper()
	if _, err := db.m.UpWithoutJobs(db.Context()); err != nil {
		db.Fatal(err)
	}
}

func (db *database) check(when string) {
	db.Helper()
	if err := db.m.Check(db.Context()); err != nil {
		db.Errorf("%s: %v", when, err)
	}
}

// tasksAndTicks are rows that must survive, and a tick that waits.
func (db *database) tasksAndTicks() {
	db.Helper()
	db.exec(`INSERT INTO periodic_task (id, task, timer, sink, overlap) VALUES ('a', 'x', 'daily', 'event', 'queue')`)
	db.exec(`INSERT INTO periodic_tick (task_id, due, decision, decided, jid) VALUES
		('a', '2026-01-01 00:00:00.000000', 'submitted', '2026-01-01 00:00:00.000000', 'j1'),
		('a', '2026-01-02 00:00:00.000000', 'queued', '2026-01-02 00:00:00.000000', NULL)`)
	db.Want("a 1", "SELECT id || ' ' || queued FROM periodic_health")
	db.Want("a", "SELECT task_id FROM periodic_ready")
}

// Without the tables of jobs everything else is there and works, and a table job of
// somebody else stays as it is.
func TestWithoutTheTablesOfJobs(t *testing.T) {
	both(t, func(db *database) {
		db.exec(theirJobs)
		before := db.dump("job")
		db.without()
		db.check("without the tables of jobs")
		for _, up := range []func(){db.up, db.without} { // again
			up()
			db.check("after another Up")
		}
		db.tasksAndTicks()
		db.Want("0", "SELECT count(*) FROM periodic_task WHERE id = 'nextrun-housekeeping'")
		if has, err := db.m.HasJobs(t.Context()); err != nil || has {
			t.Errorf("HasJobs = %v, %v", has, err)
		}
		var mismatch *migrations.MismatchError
		if _, err := db.m.AddJobs(t.Context()); !errors.As(err, &mismatch) || mismatch.Table != "job" {
			t.Errorf("to add jobs beside a table of that name: %v", err)
		}
		db.check("after AddJobs was refused")
		db.down()
		if after := db.dump("job"); after != before {
			t.Errorf("the table of somebody else was\n%s\nand is\n%s", before, after)
		}
	})
}

// The tables of jobs can be added later. The schema is then that of a database that
// had them from the beginning, and the rows are still there.
func TestAddTheTablesOfJobs(t *testing.T) {
	both(t, func(db *database) {
		empty := db.dump()
		db.up()
		want := db.dump()
		db.down()

		db.without()
		db.tasksAndTicks()
		done, err := db.m.AddJobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(done, migrations.Applied{Name: "table job"}) {
			t.Errorf("AddJobs did %v", done)
		}
		db.check("after AddJobs")
		if got := db.dump(); got != want {
			t.Errorf("the schema is\n%s\nwant\n%s", got, want)
		}
		db.Want("2", "SELECT count(*) FROM periodic_tick WHERE task_id = 'a'")
		db.Want("1", "SELECT count(*) FROM periodic_task WHERE id = 'nextrun-housekeeping'")
		if again, err := db.m.AddJobs(t.Context()); err != nil || len(again) > 0 {
			t.Errorf("AddJobs again did %v, %v", again, err)
		}
		if _, err := db.m.UpWithoutJobs(t.Context()); !errors.Is(err, migrations.ErrHasJobs) {
			t.Errorf("UpWithoutJobs: %v", err)
		}
		stop := db.schedule()
		db.works("new")
		stop()
		db.down()
		if rest := db.dump(); rest != empty {
			t.Errorf("Down left something behind:\n%s", rest)
		}
	})
}

// Docspell's tables of jobs are extended when they are added, and left by Down.
func TestAddTheTablesOfJobsThatDocspellHas(t *testing.T) {
	both(t, func(db *database) {
		db.execFile("../testdata/docspell/adr0012.sql")
		before := db.dump()
		db.without()
		db.check("without the tables of jobs")
		if _, err := db.m.AddJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		db.check("after AddJobs")
		db.Want("1", "SELECT count(*) FROM nextrun_found WHERE name = 'job'")
		db.down()
		if after := db.dump(); after != before {
			t.Errorf("it was\n%s\nand is\n%s", before, after)
		}
	})
}

// schedule runs a scheduler until the function that it returns is called.
func (db *database) schedule() (stop func()) {
	db.Helper()
	own, err := store.Open(db.Context(), db.URL, store.Options{})
	if err != nil {
		db.Fatal(err)
	}
	s, err := scheduler.New(own.Periodic(), scheduler.Config{
		Name: "parts", PollInterval: 100 * time.Millisecond,
		RetryMax: 250 * time.Millisecond,
	})
	if err != nil {
		db.Fatal(err)
	}
	if err := s.Start(db.Context()); err != nil {
		db.Fatal(err)
	}
	return func() {
		if err := s.Stop(context.Background()); err != nil {
			db.Error(err)
		}
		_ = own.Close()
	}
}

// works adds a task that is due, and waits until the scheduler has submitted it.
func (db *database) works(id string) {
	db.Helper()
	db.exec("INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('" + id + "', 'x', 'yearly', '2026-01-01 00:00:00.000000')")
	db.eventually("SELECT count(*) FROM job WHERE tracker = '" + id + "'")
}

// eventually waits until a query counts a row.
func (db *database) eventually(query string) {
	db.Helper()
	storetest.Eventually(db, query, func() bool { return db.one(query) != "0" })
}
