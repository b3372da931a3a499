package periodic_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/storetest"
)

// suppress makes the database ignore what a condition on NEW and OLD holds for.
func (f *fixture) suppress(table, event, condition string) {
	f.Helper()
	f.exec(map[string]string{
		"postgres": `CREATE FUNCTION suppress() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
			CREATE TRIGGER a_suppress BEFORE ` + event + ` ON ` + table + ` FOR EACH ROW WHEN (` + condition + `) EXECUTE FUNCTION suppress()`,
		"sqlite": `CREATE TRIGGER a_suppress BEFORE ` + event + ` ON ` + table + ` WHEN ` + condition + `
			BEGIN SELECT RAISE(IGNORE); END`,
	}[f.Kind])
}

// A trigger suppresses a change without an error: the task is named, its tick
// stays due, and others go on.
func TestG2SuppressedChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][3]string{
		"mark": {"periodic_task", "UPDATE", "OLD.id = 'bad' AND NEW.worker IS NOT NULL"},
		"plan": {"periodic_task", "UPDATE", "OLD.id = 'bad' AND OLD.due IS NOT NULL AND NEW.due > OLD.due"},
		"tick": {"periodic_tick", "INSERT", "NEW.task_id = 'bad'"},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(f *fixture) {
				for _, id := range []string{"a", "b", "bad", "c", "d"} {
					f.exec(insertTask, id, "yearly")
				}
				f.once()
				for _, id := range []string{"a", "b", "bad", "c", "d"} {
					f.due(id, 1e9)
				}
				f.suppress(c[0], c[1], c[2])
				cfg := f.config("suppressed")
				if name == "mark" {
					marking(&cfg)
				}
				seen := watch(&cfg)
				f.start(cfg)
				if e := seen.until(f, "sign that it is set aside", kindOf(periodic.EventAside)); e.ID != "bad" || !strings.Contains(e.Err.Error(), "look for a trigger") {
					f.Errorf("%s is set aside: %v", e.ID, e.Err)
				}
				for _, id := range []string{"a", "b", "c", "d"} {
					seen.until(f, "job", submitted(id))
				}
				f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = 'bad'")
				f.want(0, "SELECT count(*) FROM job WHERE tracker = 'bad'")
				f.exec(map[string]string{"postgres": "DROP TRIGGER a_suppress ON " + c[0], "sqlite": "DROP TRIGGER a_suppress"}[f.Kind])
				seen.until(f, "job", submitted("bad"))
			})
		})
	}
}

// A trigger writes another mark than the scheduler's.
func TestG5AlteredMark(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec(insertTask, "good", "yearly")
	f.exec(insertTask, "bad", "yearly")
	f.once()
	f.due("good", 1e9)
	f.due("bad", 1e9)
	f.exec(`CREATE FUNCTION alter_mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.worker = 'me'; RETURN NEW; END $$`)
	f.exec(`CREATE TRIGGER z_alter BEFORE UPDATE ON periodic_task FOR EACH ROW
		WHEN (OLD.id = 'bad' AND NEW.worker IS NOT NULL) EXECUTE FUNCTION alter_mark()`)
	cfg := f.config("altered")
	marking(&cfg)
	seen := watch(&cfg)
	f.start(cfg)
	if e := seen.until(t, "sign that it is set aside", kindOf(periodic.EventAside)); e.ID != "bad" || !strings.Contains(e.Err.Error(), "alters") {
		t.Errorf("%s is set aside: %v", e.ID, e.Err)
	}
	seen.until(t, "job", submitted("good"))
}

// A lock of somebody else that ends while a batch is written is no trigger.
func TestG5LockThatEndsIsNoTrigger(t *testing.T) {
	w := newWaiting(newPostgresFixture(t))
	w.exec(`CREATE FUNCTION stand_by() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NULL; END $$`)
	w.exec("CREATE TRIGGER stand_by AFTER UPDATE ON periodic_task FOR EACH STATEMENT EXECUTE FUNCTION stand_by()")
	for _, id := range []string{"free", "locked"} {
		w.task(id, "yearly", "replace")
		w.exec("INSERT INTO job (jid, task, tracker) VALUES (?, 'backup', ?)", "before-"+id, id)
	}
	w.start(2)
	somebody, err := w.SQL.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, lock := range []string{"SELECT id FROM periodic_task WHERE id = 'locked' FOR UPDATE", "SELECT pg_advisory_xact_lock(42)"} {
		if _, err := somebody.Exec(lock); err != nil {
			t.Fatal(err)
		}
	}
	w.pass(time.Second)
	storetest.Eventually(t, "the batch stands between two statements", func() bool {
		return w.One("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND NOT granted") == "1"
	})
	if err := somebody.Rollback(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"free", "locked"} {
		w.decided(id, periodic.Submitted)
	}
	w.stop(w.scheduler)
	for _, e := range w.seen.list {
		if e.Err != nil && strings.Contains(e.Err.Error(), "trigger") {
			t.Errorf("the scheduler says %v", e.Err)
		}
	}
}
