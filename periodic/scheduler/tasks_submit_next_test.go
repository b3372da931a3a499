package scheduler_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// A tick that is submitted after something else is one tick, however often it is
// submitted, and the policy of the task holds.
func TestSubmitNext(t *testing.T) {
	both(t, func(f *fixture) {
		tasks := periodic.NewTasks(f.db.Tasks())
		due := time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)
		next := func(id string, due time.Time) {
			t.Helper()
			if err := tasks.SubmitNext(t.Context(), id, due, "submitted by a test"); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		for _, overlap := range []string{"skip", "queue", "replace", "allow"} {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ($1, 'echo', 'yearly', $1)", overlap)
		}
		f.once()
		for _, overlap := range []string{"skip", "queue", "replace", "allow"} {
			next(overlap, due)
			next(overlap, due) // delivered twice
			f.want(1, "SELECT count(*) FROM job WHERE tracker = $1", overlap)
			f.want("submitted hook submitted by a test", "SELECT decision || ' ' || cause || ' ' || reason FROM periodic_tick WHERE task_id = $1", overlap)
			next(overlap, due.Add(time.Second)) // while the first job is pending
			next(overlap, due.Add(time.Second))
		}
		const second = "SELECT decision FROM periodic_tick WHERE task_id = $1 ORDER BY due DESC LIMIT 1"
		f.want("skipped", second, "skip")
		f.want(2, "SELECT count(*) FROM periodic_task WHERE id IN ('queue', 'replace') AND nextrun = '2026-01-02 03:04:06.678901'")
		f.want("submitted", second, "allow")
		f.exec("UPDATE job SET state = 'success' WHERE tracker = 'queue'")
		f.once()
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'replace' AND state = 'cancelled'")
		f.want("submitted", second, "queue")
		f.want("submitted", second, "replace")
		f.guarantees()
	})
}

// What waits already is not lost for a tick that comes after it, however often that is delivered: it stands for both.
func TestSubmitNextLeavesWhatWaits(t *testing.T) {
	both(t, func(f *fixture) {
		tasks := periodic.NewTasks(f.db.Tasks())
		now := time.Now().UTC().Truncate(time.Second)
		next := func(id string, due time.Time) {
			t.Helper()
			for range 2 {
				if err := tasks.SubmitNext(t.Context(), id, due, "twice"); err != nil {
					t.Errorf("%s: %v", id, err)
				}
			}
		}
		for _, id := range []string{"hooks", "held", "hand", "never"} {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ($1, 'echo', 'yearly', 'queue')", id)
		}
		f.exec("UPDATE periodic_task SET timer = 'never' WHERE id = 'never'")
		f.once()
		f.exec("INSERT INTO job (jid, task, tracker, submitted, single) VALUES ('never', 'echo', 'never', $1, true)", f.at(0))
		next("never", now.Add(-3*time.Second))
		f.want(0, "SELECT count(*) FROM periodic_tick") // it waits
		for _, id := range []string{"hooks", "held", "hand"} {
			f.exec("INSERT INTO job (jid, task, tracker, submitted, single) VALUES ($1, 'echo', $1, $2, true)", id, f.at(0))
		}
		f.due("held", time.Minute)
		f.exec("UPDATE periodic_task SET nextrun = '2099-01-01 00:00:00' WHERE id = 'hand'")
		next("hooks", now.Add(-3*time.Second))
		for _, id := range []string{"hooks", "held", "hand"} {
			next(id, now.Add(-2*time.Second))
			f.want("skipped overlap twice", "SELECT decision || ' ' || cause || ' ' || reason FROM periodic_tick WHERE task_id = $1", id)
		}
		f.want(1, "SELECT count(*) FROM periodic_task WHERE id = 'hand' AND nextrun >= '2099-01-01'")
		f.exec("UPDATE job SET state = 'success'")
		f.once()
		f.want(2, "SELECT count(DISTINCT task_id) FROM periodic_tick WHERE task_id IN ('hooks', 'held') AND decision = 'submitted'")
		next("hooks", now.Add(-3*time.Second)) // delivered once more, after it has run
		f.want(2, "SELECT count(*) FROM periodic_tick WHERE task_id = 'hooks'")
		f.guarantees()
	})
}

// A tick of the timer that no scheduler has decided yet, since the task is new or its jitter goes on, is not lost for the tick of a
// hook: it stands for both (G2).
func TestG2SubmitNextBeforeASchedulerHasDecided(t *testing.T) {
	both(t, func(f *fixture) {
		now := f.time(f.at(0)).Truncate(time.Second)
		elapsed, hook := now.Add(-time.Minute), now.Add(-30*time.Second)
		soon := now.Add(time.Hour)
		for id, tick := range map[string]time.Time{"new": elapsed, "jitter": elapsed, "ahead": soon, "wrong": soon} {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES (?, 'echo', ?, 'queue')", id, tick.Format("*-01-02 15:04:05"))
			f.exec("UPDATE periodic_task SET since = ? WHERE id = ?", utc(now.Add(-time.Hour)), id)
			f.exec("INSERT INTO job (jid, task, tracker, submitted, single) VALUES (?, 'echo', ?, ?, ?)", id, id, utc(elapsed), true)
		}
		f.exec("UPDATE periodic_task SET timer = 'at noon' WHERE id = 'wrong'")
		f.exec("UPDATE periodic_task SET due = ?, nextrun = ? WHERE id = 'jitter'", utc(elapsed), utc(soon))
		tasks := periodic.NewTasks(f.db.Tasks())
		for _, id := range []string{"new", "jitter", "ahead", "wrong"} {
			f.done(tasks.SubmitNext(t.Context(), id, hook, "by a test"))
		}
		f.want(3, "SELECT count(*) FROM periodic_tick WHERE task_id <> 'ahead' AND decision = 'skipped' AND cause = 'overlap' AND due = ?", utc(hook))
		f.exec("UPDATE job SET state = 'success'")
		f.once()
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'new' AND due = ?", utc(elapsed))
		f.want(1, "SELECT count(*) FROM periodic_task WHERE id = 'jitter' AND due = ? AND nextrun = ?", utc(elapsed), utc(soon))
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'ahead' AND due = ?", utc(hook))
		f.want(1, "SELECT count(*) FROM periodic_task WHERE id = 'ahead' AND due = ?", utc(soon))
	})
}

func TestSubmitNextOfATaskThatTakesNone(t *testing.T) {
	both(t, func(f *fixture) {
		tasks := periodic.NewTasks(f.db.Tasks())
		f.exec("INSERT INTO periodic_task (id, task, timer, enabled) VALUES ('off', 'echo', 'yearly', false)")
		f.exec("INSERT INTO periodic_task (id, task, timer, starts) VALUES ('soon', 'echo', 'yearly', $1)", f.at(time.Hour))
		f.exec("INSERT INTO periodic_task (id, task, timer, paused, paused_by, paused_reason) VALUES ('paused', 'echo', 'yearly', '2026-01-01 00:00:00', 'ada', 'moving')")
		f.exec("INSERT INTO periodic_task (id, task, timer, ends) VALUES ('over', 'echo', 'yearly', $1)", f.at(-time.Hour))
		for id, want := range map[string]string{
			"off": "closed by a test", "soon": "closed by a test", "over": "closed by a test", "paused": "paused by a test",
		} {
			if err := tasks.SubmitNext(t.Context(), id, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "by a test"); err != nil {
				t.Errorf("%s: %v", id, err)
			}
			f.want("skipped "+want, "SELECT decision || ' ' || cause || ' ' || reason FROM periodic_tick WHERE task_id = $1", id)
		}
		f.want(0, "SELECT count(*) FROM job")
		if err := tasks.SubmitNext(t.Context(), "none", time.Now(), ""); !errors.Is(err, jobqueue.ErrNotFound) {
			t.Errorf("a task that is not there: %v", err)
		}
	})
}
