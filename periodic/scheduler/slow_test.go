package scheduler_test

import (
	"fmt"
	"testing"

	"github.com/nextrun/nextrun/periodic/scheduler"
)

// sluggish has the database take more than half a second for each job of a task.
func (f *fixture) sluggish(id string) {
	f.Helper()
	f.exec(map[string]string{
		"postgres": `CREATE FUNCTION sluggish() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.8); RETURN NEW; END $$;
			CREATE TRIGGER sluggish BEFORE INSERT ON job FOR EACH ROW WHEN (NEW.tracker = '` + id + `') EXECUTE FUNCTION sluggish()`,
		"sqlite": `CREATE TRIGGER sluggish BEFORE INSERT ON job WHEN NEW.tracker = '` + id + `' BEGIN
			SELECT max(x) FROM (WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 8000000) SELECT x FROM c); END`,
	}[f.Kind])
}

// A row that the database takes long to write is found and named, though it does not fail. From
// then on it has batches of its own, and still gets its jobs; once it is fast again, it goes with
// the others.
func TestG5SlowRowDelaysNobody(t *testing.T) {
	both(t, func(f *fixture) {
		f.sluggish("slow")
		for i := range 9 {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES (?, 'backup', 'every 1s', 'allow')", fmt.Sprint("good-", i))
		}
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('slow', 'backup', 'every 1s', 'allow')")
		cfg := f.config("one")
		seen := watch(&cfg)
		s := f.start(cfg)
		named := func(e scheduler.Event) bool { // on a busy machine others may seem slow, too
			return e.Kind == scheduler.EventSlow && e.Took > 0 && e.ID == "slow"
		}
		seen.until(f, "name of the slow task", named)
		slowTick := func(e scheduler.Event) bool { return e.Kind == scheduler.EventTick && e.Tick.TaskID == "slow" }
		alone, ticks, ticked := false, 0, false
		seen.until(f, "more ticks of the slow task", func(e scheduler.Event) bool {
			if ticked && !slowTick(e) && (e.Kind != scheduler.EventBatch || e.Count != 1) {
				f.Errorf("the slow task was submitted with others: %+v", e)
			}
			if alone = alone || named(e); alone && slowTick(e) {
				ticks++
			}
			ticked = alone && slowTick(e)
			return ticks == 4
		})
		f.exec(map[string]string{"postgres": "DROP TRIGGER sluggish ON job", "sqlite": "DROP TRIGGER sluggish"}[f.Kind])
		seen.until(f, "end of the search", func(e scheduler.Event) bool { return e.Kind == scheduler.EventSlow && e.Took == 0 && e.ID == "slow" })
		f.stop(s)
		f.guarantees()
	})
}
