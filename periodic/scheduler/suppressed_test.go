package scheduler_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/periodic/scheduler"
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
		"plan": {"periodic_task", "UPDATE", "OLD.id = 'bad' AND OLD.due IS NOT NULL AND NEW.due > OLD.due"},
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
				seen := watch(&cfg)
				f.start(cfg)
				if e := seen.until(f, "sign that it is set aside", kindOf(scheduler.EventAside)); e.ID != "bad" || !strings.Contains(e.Err.Error(), "look for a trigger") {
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

// A trigger suppresses the job or the tick of one task of a batch without an error: that task gets no job, and says why where
// its tick can be written; the others get theirs.
func TestG1SuppressedRows(t *testing.T) {
	t.Parallel()
	for table, c := range map[string]struct{ condition, ticks string }{
		"job":           {"NEW.tracker = 'bad'", "SELECT count(*) FROM periodic_tick WHERE task_id = 'bad' AND decision = 'skipped' AND jid IS NULL"},
		"periodic_tick": {"NEW.task_id = 'bad'", "SELECT 1 - count(*) FROM periodic_tick WHERE task_id = 'bad'"},
	} {
		t.Run(table, func(t *testing.T) {
			both(t, func(f *fixture) {
				ids := []string{"a", "b", "bad", "c"}
				for _, id := range ids {
					f.exec(insertTask, id, "yearly")
				}
				f.once()
				for _, id := range ids {
					f.due(id, 0)
				}
				f.suppress(table, "INSERT", c.condition)
				f.once()
				f.want(3, "SELECT count(*) FROM job WHERE tracker IN ('a', 'b', 'c')")
				f.want(3, "SELECT count(*) FROM periodic_tick WHERE decision = 'submitted' AND task_id <> 'bad'")
				f.want(0, "SELECT count(*) FROM job WHERE tracker = 'bad'")
				f.want(1, c.ticks)
				f.want(0, "SELECT count(*) FROM periodic_task WHERE id IN ('a', 'b', 'bad', 'c') AND nextrun <= ?", f.at(0))
			})
		})
	}
}
