package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// runningJob has the task "report" with a running job.
func (f *fixture) runningJob(overlap string) {
	f.Helper()
	f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', 'yearly', ?)", overlap)
	f.due("report", 2*time.Second)
	f.once()
	f.exec("UPDATE job SET state = 'running'")
}

// ran gives a task a tick of some time ago, whose job still runs.
func (f *fixture) ran(id string, ago time.Duration) {
	f.Helper()
	f.exec("INSERT INTO periodic_tick (task_id, due, decision, jid, decided) VALUES (?, ?, 'submitted', 'first', ?)", id, f.at(-ago), f.at(-ago))
	f.exec("INSERT INTO job (jid, task, tracker, due, state, single) VALUES ('first', 'backup', ?, ?, 'running', true)", id, f.at(-ago))
}

// held has a task with a running job and a tick that waits for its end.
func (f *fixture) held(overlap string) time.Time {
	f.Helper()
	f.runningJob(overlap)
	f.exec("UPDATE job SET jid = 'first'")
	due := f.due("report", time.Second)
	f.once()
	f.waits(due)
	f.want(1, "SELECT count(*) FROM job")
	return due
}

// waits fails unless the task is due, and its tick not decided.
func (f *fixture) waits(due time.Time) {
	f.Helper()
	f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = 'report' AND due = ?", utc(due))
	f.want(1, "SELECT count(*) FROM periodic_task WHERE id = 'report' AND due = ? AND nextrun = ?", utc(due), utc(due))
}

// A tick that waits is submitted within a moment of the end of the job, however it
// ends: by notification, or by data_version, and not by a poll.
func TestHeldTickFollowsTheJob(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"success", "failed", "cancelled", "deleted"} {
		t.Run(end, func(t *testing.T) {
			both(t, func(f *fixture) {
				due := f.held("queue")
				_, seen := f.start(f.db.Periodic())
				f.exec("UPDATE job SET progress = 50 WHERE jid = 'first'")
				f.exec("UPDATE job SET state = 'stuck' WHERE jid = 'first'")
				f.exec("UPDATE job SET state = 'running' WHERE jid = 'first'")
				f.want(1, "SELECT count(*) FROM job")
				if end == "deleted" {
					f.exec("DELETE FROM job WHERE jid = 'first'")
				} else {
					f.exec("UPDATE job SET state = ? WHERE jid = 'first'", end)
				}
				seen.until(f, "job", submitted("report"))
				f.want(1, "SELECT count(*) FROM job WHERE due = ? AND state = 'waiting'", utc(due))
			})
		})
	}
}

// The job's end is not committed yet when the tick falls due: the commit wakes all the same.
func TestHeldTickFollowsAJobThatIsEnding(t *testing.T) {
	f := newPostgresFixture(t)
	f.runningJob("queue")
	executor := f.Hold("UPDATE job SET state = 'success'")
	due := f.due("report", time.Second)
	f.once()
	f.waits(due)
	n := f.listen()
	n.count()
	f.done(executor.Commit())
	if got := n.count(); got != 1 {
		t.Errorf("%d notifications of the end of the job", got)
	}
	f.once()
	f.want(1, "SELECT count(*) FROM job WHERE due = ?", utc(due))
}

// Replace: an executor takes the job between mark and submit. It is not
// cancelled behind its back, and the tick waits.
func TestReplaceWhenTheJobIsTakenMeanwhile(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', 'yearly', 'replace')")
		f.due("report", 2*time.Second)
		f.once()
		due := f.due("report", time.Second)
		f.between(func() { f.exec("UPDATE job SET state = 'running', jid = 'first'") })
		f.waits(due)
		f.want(1, "SELECT count(*) FROM job")
		f.exec("UPDATE job SET state = 'success'")
		f.once()
		f.want(1, "SELECT count(*) FROM job WHERE due = ? AND state = 'waiting'", utc(due))
	})
}

// A tick that waits keeps to its task under another name or policy, and does not outlive it, nor the edit that replaces it.
func TestHeldTickOfATaskThatChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ edit, submitted string }{
		"overlap skip":  {"UPDATE periodic_task SET overlap = 'skip'", "report"},
		"overlap allow": {"UPDATE periodic_task SET overlap = 'allow'", "report"},
		"renamed":       {"UPDATE periodic_task SET id = 'other'", "other"},
		"deleted":       {"DELETE FROM periodic_task", ""},
		"disabled":      {"UPDATE periodic_task SET enabled = false", ""},
		"changed":       {"UPDATE periodic_task SET timer = '*-01-02'", ""},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(f *fixture) {
				due := f.held("queue")
				f.exec(c.edit)
				f.exec("UPDATE job SET state = 'success'")
				f.once()
				f.want(c.submitted, "SELECT max(tracker) FROM job WHERE state = 'waiting' AND due = ?", utc(due))
				f.want(0, "SELECT count(*) FROM job WHERE state = 'waiting' AND tracker <> ?", c.submitted)
			})
		})
	}
}

// What fell due while a tick waited is recorded when the job has ended: the newest tick runs, the others are skipped for it. What
// nobody decided after that is missed.
func TestTicksOfTheTimeInWhichATaskWaited(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', 'minutely', 'queue')")
		f.ran("report", 20*time.Minute)
		first := f.behind("report", 10*time.Minute, time.Minute)
		f.once()
		f.waits(first)
		f.exec("UPDATE job SET state = 'success', finished = ?", f.at(-5*time.Minute))
		f.once()
		f.want(1, "SELECT count(*) FROM job WHERE state = 'waiting'")
		f.want("waited",
			"SELECT cause FROM periodic_tick WHERE due = ? AND decision = 'skipped' AND missed BETWEEN 5 AND 6", utc(first))
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE decision = 'missed' AND missed BETWEEN 3 AND 5")
	})
}

// The row of the job that is to be replaced is locked by another session while
// the tick falls due: it is passed over, and the job asked to end as soon as the
// lock is gone.
func TestReplaceAsksALockedJobLater(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"running", "waiting"} {
		t.Run(state, func(t *testing.T) {
			f := newPostgresFixture(t)
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', 'yearly', 'replace')")
			f.due("report", 2*time.Second)
			f.once()
			f.exec("UPDATE job SET state = ?, jid = 'first'", state)
			open := f.Hold("SELECT 1 FROM job FOR UPDATE")
			_, seen := f.start(f.db.Periodic())
			f.exec("UPDATE periodic_task SET nextrun = now() AT TIME ZONE 'UTC'")
			f.exec("INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('other', 'backup', 'yearly', now() AT TIME ZONE 'UTC')")
			seen.until(t, "another task's job", submitted("other"))
			f.want(0, "SELECT count(*) FROM job WHERE cancel IS NOT NULL")
			f.done(open.Rollback())
			f.soon(1, "SELECT count(*) FROM job WHERE jid = 'first' AND cancel IS NOT NULL")
			if state == "running" {
				f.exec("UPDATE job SET state = 'cancelled' WHERE jid = 'first'")
			}
			seen.until(t, "job in its place", submitted("report"))
			f.want("cancelled", "SELECT state FROM job WHERE jid = 'first'")
			f.guarantees()
		})
	}
}

// soon waits until a query returns a value.
func (f *fixture) soon(value any, query string, args ...any) {
	f.Helper()
	storetest.Eventually(f, fmt.Sprintf("%s gives %v", query, value), func() bool { return f.one(query, args...) == fmt.Sprint(value) })
}
