package scheduler_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
)

// A task is read and decided before its time, and submitted at its time: not before,
// and once.
func TestAheadIsNotEarly(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		due := w.task("report", "yearly", "skip")
		w.start(1)
		w.want(0, "SELECT count(*) FROM job")
		w.want(0, "SELECT count(*) FROM periodic_tick")
		w.scheduler.Wake()
		w.pass(0)
		w.decided("report", periodic.Submitted)
		w.want(1, "SELECT count(*) FROM job WHERE due = ? AND submitted >= due", due)
		w.want(1, "SELECT count(*) FROM periodic_tick WHERE due = ? AND decided >= due", due)
		w.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
		w.guarantees()
	})
}

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

// An edit while the batch waits wins.
func TestAheadEditWins(t *testing.T) {
	for name, edit := range map[string]struct {
		sql   string
		count int    // of jobs
		job   string // condition on the job
	}{
		"args":     {"UPDATE periodic_task SET args = '[7]' WHERE id = 'report'", 1, "args = '[7]' AND due = ?"},
		"timer":    {"UPDATE periodic_task SET timer = '2090-01-01' WHERE id = 'report'", 0, "due = ?"},
		"disabled": {"UPDATE periodic_task SET enabled = false WHERE id = 'report'", 0, "due = ?"},
		"ends":     {"UPDATE periodic_task SET ends = '2001-01-01 00:00:00' WHERE id = 'report'", 0, "due = ?"},
		"later":    {"UPDATE periodic_task SET nextrun = '2090-01-01 00:00:00' WHERE id = 'report'", 0, "due = ?"},
		"renamed":  {"UPDATE periodic_task SET id = 'renamed' WHERE id = 'report'", 1, "tracker = 'renamed' AND due = ?"},
		"deleted":  {"DELETE FROM periodic_task WHERE id = 'report'", 0, "due = ?"},
		"paused":   {"UPDATE periodic_task SET paused = CURRENT_TIMESTAMP WHERE id = 'report'", 0, "due = ?"},
		"unmarked": {"UPDATE periodic_task SET worker = NULL, marked = NULL WHERE id = 'report'", 1, "due = ?"},
	} {
		t.Run(name, func(t *testing.T) {
			whileWaiting(t, func(w *waiting) {
				due := w.task("report", "yearly", "skip")
				w.task("other", "yearly", "skip")
				w.start(2)
				w.exec(edit.sql)
				w.pass(time.Second)
				w.decided("other", periodic.Submitted)
				w.stop(w.scheduler)
				w.step(soonDue + time.Minute)
				w.once()
				w.want(1+edit.count, "SELECT count(*) FROM job")
				w.want(edit.count, "SELECT count(*) FROM job WHERE tracker <> 'other' AND "+edit.job, due)
				if name == "paused" {
					w.want("skipped", "SELECT decision FROM periodic_tick WHERE task_id = 'report'")
				}
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

// Tasks that were claimed together are submitted each at its own time, such as those
// that jitter spreads.
func TestAheadEachAtItsTime(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		w.task("first", "yearly", "skip")
		w.task("second", "yearly", "skip")
		w.exec("UPDATE periodic_task SET due = due, nextrun = ? WHERE id = 'second'", w.at(soonDue+500*time.Millisecond))
		later := utc(w.due("second", -soonDue-500*time.Millisecond))
		w.start(2)
		w.step(soonDue + 100*time.Millisecond)
		w.scheduler.Wake()
		w.decided("first", periodic.Submitted)
		w.decided("second", periodic.Submitted)
		w.want(0, "SELECT count(*) FROM job WHERE submitted < due")
		w.want(1, "SELECT count(*) FROM job WHERE tracker = 'second' AND due = ?", later)
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

// Somebody submits the tick itself while the batch waits, as a backfill does.
func TestAheadTickExists(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		due := w.task("report", "yearly", "allow")
		w.task("other", "yearly", "allow")
		w.start(2)
		w.exec("INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('report', ?, 'submitted', ?)", due, due)
		w.pass(0)
		w.decided("other", periodic.Submitted)
		w.want(0, "SELECT count(*) FROM job WHERE tracker = 'report'")
		w.want(1, "SELECT count(*) FROM periodic_task WHERE id = 'report' AND nextrun > ? AND worker IS NULL", due)
	})
}
