package scheduler_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// The transaction itself checks the time: a clock that was set back just before it makes
// the batch wait again.
func TestAheadWaitsForAClockThatWasSetBack(t *testing.T) {
	for name, back := range map[string]time.Duration{"a little": 0, "a lot": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			whileWaiting(t, func(w *waiting) {
				due := w.task("report", "yearly", "skip")
				w.start(1)
				var tried atomic.Bool
				var once sync.Once
				stepBack := func(int64) error {
					once.Do(func() { w.step(back) })
					tried.Store(true)
					return nil
				}
				w.onUpdate.Store(&stepBack)
				w.pass(0)
				storetest.Eventually(w, "an attempt to submit", tried.Load)
				peeks := w.hooks.peeks.Load()
				w.scheduler.Wake()
				storetest.Eventually(w, "the end of the attempt", func() bool { return w.hooks.peeks.Load() > peeks })
				w.want(0, "SELECT count(*) FROM job")
				w.pass(0)
				w.decided("report", periodic.Submitted)
				w.want(1, "SELECT count(*) FROM job WHERE due = ? AND submitted >= due", due)
				w.guarantees()
			})
		})
	}
}

// The loop goes on while a batch waits: what falls due earlier is submitted then.
func TestAheadDoesNotHoldUpEarlierTasks(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		w.task("later", "yearly", "skip")
		w.task("edited", "yearly", "skip")
		w.start(2)
		w.exec(insertTask, "added", "2090-01-01")
		w.exec("UPDATE periodic_task SET nextrun = ? WHERE id IN ('added', 'edited')", w.at(0))
		w.decided("added", periodic.Submitted)
		w.decided("edited", periodic.Submitted)
		w.want(0, "SELECT count(*) FROM job WHERE tracker = 'later'")
		w.pass(0)
		w.decided("later", periodic.Submitted)
		w.guarantees()
	})
}

// A job that ends while the batch waits is no reason to skip the tick, to queue it or to
// cancel the job.
func TestAheadJobEnds(t *testing.T) {
	for _, overlap := range []string{"skip", "queue", "replace"} {
		t.Run(overlap, func(t *testing.T) {
			whileWaiting(t, func(w *waiting) {
				due := w.task("report", "yearly", overlap)
				w.exec("INSERT INTO job (jid, task, tracker, single, state) VALUES ('first', 'backup', 'report', ?, 'running')", true)
				w.start(1)
				w.exec("UPDATE job SET state = 'success'")
				w.pass(0)
				w.decided("report", periodic.Submitted)
				w.want(1, "SELECT count(*) FROM job WHERE due = ? AND state = 'waiting'", due)
				w.want(1, "SELECT count(*) FROM periodic_tick")
				w.want(0, "SELECT count(*) FROM job WHERE cancel IS NOT NULL")
				w.guarantees()
			})
		})
	}
}

// A job that appears while the batch waits counts as one that was there before.
func TestAheadJobAppears(t *testing.T) {
	for overlap, want := range map[string]struct {
		decision        periodic.Decision
		jobs, cancelled int
	}{
		"skip": {periodic.Skipped, 1, 0}, "queue": {"", 1, 0},
		"replace": {periodic.Submitted, 2, 1}, "allow": {periodic.Submitted, 2, 0},
	} {
		t.Run(overlap, func(t *testing.T) {
			whileWaiting(t, func(w *waiting) {
				due := w.task("report", "yearly", overlap)
				w.start(1)
				w.exec("INSERT INTO job (jid, task, tracker, single, state) VALUES ('first', 'backup', 'report', ?, 'waiting')", overlap != "allow")
				w.pass(0)
				if want.decision == "" {
					w.want(1, "SELECT count(*) FROM periodic_task WHERE id = 'report' AND nextrun = ?", due)
				} else {
					w.decided("report", want.decision)
					w.want(string(want.decision), "SELECT decision FROM periodic_tick WHERE due = ?", due)
				}
				w.want(want.jobs, "SELECT count(*) FROM job")
				w.want(want.cancelled, "SELECT count(*) FROM job WHERE state = 'cancelled'")
				w.guarantees()
			})
		})
	}
}

// A scheduler that continues after its time decides as one that comes late: by deadline,
// grace and the ticks that it has missed.
func TestAheadContinuesLate(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		for _, id := range []string{"late", "old", "behind", "fine"} {
			w.task(id, "hourly", "skip")
		}
		w.exec("UPDATE periodic_task SET deadline = 60 WHERE id = 'late'")
		w.exec("UPDATE periodic_task SET catchup = 'none' WHERE id = 'old'")
		w.exec("UPDATE periodic_task SET timer = '*:*:*' WHERE id = 'behind'")
		w.behind("behind", -soonDue+time.Second, time.Second)
		for _, id := range []string{"late", "old", "fine"} {
			w.due(id, -soonDue+time.Second)
		}
		w.start(4)
		w.pass(5 * time.Minute)
		w.decided("late", periodic.Late)
		w.decided("old", periodic.Missed)
		w.decided("behind", periodic.Missed)
		w.decided("behind", periodic.Submitted)
		w.decided("fine", periodic.Submitted)
		w.want(2, "SELECT count(*) FROM job")
		w.want(0, "SELECT count(*) FROM periodic_tick WHERE decided < due")
		w.guarantees()
	})
}

// Of many tasks that fall due together, a few are submitted first, in a transaction of their own.
func TestAheadFirstJobsComeFirst(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		const tasks = 350
		w.exec("INSERT INTO periodic_task (id, task, timer) SELECT 'task-' || n, 'backup', 'yearly' FROM " + w.series(tasks))
		at := w.at(soonDue)
		w.exec("UPDATE periodic_task SET due = ?, nextrun = ?, timer = ?", at, at, "*"+at[4:])
		late := w.at(soonDue + time.Second) // from then on they may be read anew, and are the backlog
		w.start(tasks, func(c *scheduler.Config) { c.BatchSize = 200 })
		w.pass(0)
		var counts []int // of the transactions, two of which may be on their way
		left := tasks
		w.seen.until(w, "the last batch", func(e scheduler.Event) bool {
			if e.Kind == scheduler.EventBatch {
				counts, left = append(counts, e.Count), left-e.Count
			}
			return left == 0
		})
		if slices.Sort(counts); !slices.Equal(counts, []int{50, 100, 200}) && w.one("SELECT count(*) FROM periodic_tick WHERE decided > ?", late) == "0" {
			w.Errorf("the transactions submit %d tasks, want 100, 200 and 50", counts)
		}
		w.want(tasks, "SELECT count(*) FROM job")
		w.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
		w.guarantees()
	})
}
