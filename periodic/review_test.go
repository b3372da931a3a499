package periodic_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A task with a queued tick whose timer cannot be read any more is left alone:
// the scheduler neither spins on it nor holds up others.
func TestG5QueuedTickOfABlockedTask(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', 'yearly', 'queue')")
		f.due("report", 2*time.Minute)
		f.once()
		due := f.due("report", time.Minute)
		f.once()
		f.want("queued", "SELECT decision FROM periodic_tick WHERE due = ?", utc(due))
		f.exec("UPDATE periodic_task SET timer = 'nonsense'")
		f.exec("UPDATE job SET state = 'success'")
		f.once() // ends
		f.want("queued", "SELECT decision FROM periodic_tick WHERE due = ?", utc(due))
		f.exec("UPDATE periodic_task SET timer = 'monthly'")
		f.once()
		f.want("submitted", "SELECT decision FROM periodic_tick WHERE due = ?", utc(due))
	})
}

// A lock on something of one task's, held in psql, holds up that task only.
func TestG5LockedTickAndJob(t *testing.T) {
	t.Parallel()
	for name, lock := range map[string]string{
		"tick": "SELECT 1 FROM periodic_tick WHERE task_id = 'locked' AND decision = 'queued' FOR UPDATE",
		"job":  "UPDATE job SET state = 'cancelled' WHERE tracker = 'locked'",
	} {
		t.Run("postgres, "+name, func(t *testing.T) {
			f := newPostgresFixture(t)
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('locked', 'backup', 'yearly', 'replace')")
			f.due("locked", 3*time.Minute)
			f.once()
			if name == "tick" { // a queued one, and no job
				f.exec("UPDATE job SET state = 'running'")
				f.due("locked", 2*time.Minute)
				f.once()
				f.exec("UPDATE job SET state = 'success'")
			}
			for i := range 20 {
				f.exec(insertTask, fmt.Sprintf("free-%d", i), "yearly")
				f.due(fmt.Sprintf("free-%d", i), time.Second)
			}
			f.due("locked", time.Second)
			open := f.open(lock)
			cfg := f.config("free")
			seen := watch(&cfg)
			f.start(cfg)
			for i := range 20 {
				seen.until(t, "job", submitted(fmt.Sprintf("free-%d", i)))
			}
			if err := open.Commit(); err != nil {
				t.Fatal(err)
			}
			seen.until(t, "job of the locked task", submitted("locked"))
		})
	}
}

// A tick that exists already replaces no job, even if it was added since the
// decision.
func TestReplaceNeedsATick(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', 'yearly', 'replace')")
		for _, at := range []string{f.at(-2 * time.Minute), f.at(-time.Minute)} {
			f.exec("UPDATE periodic_task SET nextrun = ?", at)
			f.between(func() {
				f.exec("INSERT INTO periodic_tick (task_id, due, decision, decided) SELECT 'report', ?, 'skipped', ? FROM job", at, at)
			})
			f.want("waiting", "SELECT state FROM job WHERE cancel IS NULL")
		}
	})
}

// A new jitter counts from the next tick: the planned one keeps due and nextrun.
func TestJitterEditedBeforeATick(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		due := f.due("report", time.Second)
		f.exec("UPDATE periodic_task SET jitter = 3599")
		f.once()
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE due = ? AND decision = 'submitted'", utc(due))
		f.want(1, "SELECT count(*) FROM periodic_task WHERE due IS NOT NULL AND nextrun > due")
	})
}

// Times out of range are refused on a planned row, too.
func TestRangeOfAPlannedRow(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec(insertTask, "report", "yearly")
	f.once()
	for _, edit := range []string{"nextrun = 'infinity'", "nextrun = '0001-01-01'", "ends = 'infinity'", "starts = '-infinity'"} {
		if _, err := f.SQL.Exec("UPDATE periodic_task SET " + edit); err == nil || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%s: %v", edit, err)
		}
	}
}
