package scheduler_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// G5: one row never holds up another.

func TestG5BadTimerDelaysNobody(t *testing.T) {
	both(t, func(f *fixture) {
		for id, timer := range map[string]string{
			"empty": "", "nonsense": "when it rains", "zone": "daily Europe/Atlantis", "long": strings.Repeat("9", 254),
		} {
			f.exec(insertTask, id, timer)
			f.behind(id, time.Hour, time.Second)
		}
		f.exec(insertTask, "good", "yearly")
		f.due("good", time.Second)
		f.once()
		f.want(1, "SELECT count(*) FROM job")
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'good'")
		f.want(4, "SELECT count(*) FROM periodic_task WHERE problem IS NOT NULL AND due = ?", utc(periodic.Never))
		if problem := f.one("SELECT problem FROM periodic_task WHERE id = 'zone'"); !strings.Contains(problem, "Europe/Atlantis") {
			f.Errorf("the problem does not name the zone: %q", problem)
		}
		f.exec("UPDATE periodic_task SET timer = 'daily' WHERE id = 'nonsense'")
		f.once()
		f.want("", "SELECT problem FROM periodic_task WHERE id = 'nonsense'")
	})
}

// A transaction left open on one task holds up no other; that task follows when
// it ends. On SQLite an open write transaction blocks every writer.
func TestG5OpenTransactionOnOneTask(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec(insertTask, "locked", "yearly")
	f.exec(insertTask, "free", "yearly")
	due := f.due("locked", time.Second)
	f.due("free", time.Second)
	open := f.Hold("SELECT * FROM periodic_task WHERE id = 'locked' FOR UPDATE")
	_, seen := f.start(f.db.Periodic())
	seen.until(t, "job", submitted("free"))
	f.want(0, "SELECT count(*) FROM job WHERE tracker = 'locked'")
	f.done(open.Rollback())
	seen.until(t, "job", submitted("locked"))
	f.want(1, "SELECT count(*) FROM job WHERE tracker = 'locked' AND due = ?", utc(due))
}

// Many unplanned rows do not hold up a due one.
func TestG5DueBeforeUnplanned(t *testing.T) {
	both(t, func(f *fixture) {
		for _, id := range []string{"n1", "n2", "n3", "n4", "n5"} {
			f.exec(insertTask, id, "yearly")
		}
		f.exec(insertTask, "due", "yearly")
		f.due("due", time.Second)
		h := &hooked{Store: f.db.Periodic(), beforeUpdate: func(n int64) error {
			if n > nthTake+1 {
				return errDead // after the first two batches, which are written at the same time
			}
			return nil
		}}
		s, _ := f.make(h, func(c *scheduler.Config) { c.BatchSize = 2 })
		if err := s.RunOnce(f.Context()); !errors.Is(err, errDead) {
			f.Errorf("RunOnce = %v", err)
		}
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'due'")
		f.want(3, "SELECT count(*) FROM periodic_task WHERE due IS NULL")
	})
}
