package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// watching starts a scheduler that would poll a day later, and waits until it
// has looked at the database.
func (f *fixture) watching() *events {
	f.Helper()
	h := &hooked{Store: f.db.Periodic()}
	var seen *events
	f.Cleanup(f.run(h, func(c *scheduler.Config) { c.PollInterval, seen = 24*time.Hour, watch(c) }))
	storetest.Eventually(f, "the scheduler has looked", func() bool { return h.peeks.Load() > 0 })
	return seen
}

// A queued tick is submitted within a moment of the end of its wait, also when
// the job is not finished but taken away.
func TestQueuedTickFollowsAJobThatIsTakenAway(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"deleted":  "DELETE FROM job",
		"given on": "UPDATE job SET tracker = 'other'",
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(f *fixture) { f.followed(statement) })
		})
	}
}

func TestQueuedTickFollowsTruncatedJobs(t *testing.T) {
	newPostgresFixture(t).followed("TRUNCATE job CASCADE")
}

// followed fails unless a queued tick is submitted soon after a statement.
func (f *fixture) followed(statement string) {
	f.Helper()
	due := f.queuedTick("queue")
	seen := f.watching()
	f.exec(statement)
	seen.until(f, "job", submitted("report"))
	f.want(1, "SELECT count(*) FROM job WHERE due = ? AND state = 'waiting'", utc(due))
}

// The job's end is committed long after the tick has queued and was found to
// wait: neither transaction has seen the other.
func TestQueuedTickFollowsALateCommit(t *testing.T) {
	f := newPostgresFixture(t)
	f.runningJob("queue")
	executor := f.open("UPDATE job SET state = 'success'")
	f.due("report", time.Second)
	seen := f.watching()
	f.soon(1, "SELECT count(*) FROM periodic_tick WHERE decision = 'queued' AND NOT EXISTS (SELECT 1 FROM periodic_ready)")
	if err := executor.Commit(); err != nil {
		t.Fatal(err)
	}
	seen.until(t, "job", submitted("report"))
}

// The job ends, and a look finds nothing to do about it, before its tick queues.
func TestQueuedTickOfAJobThatHasEndedMeanwhile(t *testing.T) {
	both(t, func(f *fixture) {
		f.runningJob("queue")
		due := f.due("report", time.Second)
		f.between(func() {
			f.exec("UPDATE job SET state = 'success'")
			f.peek()
			f.want(0, "SELECT count(*) FROM periodic_ready")
		})
		f.want(1, "SELECT count(*) FROM job WHERE due = ? AND state = 'waiting'", utc(due))
	})
}

// What no trigger has told, such as a table that was restored from a backup, is
// found when a scheduler starts.
func TestQueuedTickWithoutATrigger(t *testing.T) {
	both(t, func(f *fixture) {
		due := f.queuedTick("queue")
		f.exec("UPDATE job SET state = 'success'")
		f.exec("DELETE FROM periodic_ready")
		f.once()
		f.want(1, "SELECT count(*) FROM job WHERE due = ? AND state = 'waiting'", utc(due))
	})
}

// Entries that are out of date, of which there may be very many, are forgotten
// while other tasks are due.
func TestStaleEntriesAreForgotten(t *testing.T) {
	both(t, func(f *fixture) {
		due := f.queuedTick("queue")
		f.exec("DELETE FROM periodic_ready")
		f.exec("INSERT INTO periodic_ready (task_id) SELECT 'gone-' || n FROM " + f.series(30_000))
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) SELECT 'busy-' || n, 'backup', '*:*:*', 'allow' FROM " + f.series(20))
		f.exec("UPDATE job SET state = 'success'")
		seen := f.watching()
		seen.until(f, "job of the queued tick", submitted("report"))
		f.soon(0, "SELECT count(*) FROM periodic_ready")
		f.want(1, "SELECT count(*) FROM job WHERE due = ? AND tracker = 'report' AND state = 'waiting'", utc(due))
	})
}

// Tasks that are on time are claimed before the many that catch up.
func TestCatchUpLeavesRoom(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap, catchup) SELECT 'late-' || n, 'backup', '*:*', 'allow', 'all' FROM " + f.series(50))
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('now', 'backup', 'yearly', 'allow')")
		f.once()
		past := f.at(-2 * time.Hour)
		f.exec("UPDATE periodic_task SET due = ?, nextrun = ?", past, past)
		f.due("now", time.Second)
		var order []string
		f.once(func(c *scheduler.Config) {
			c.BatchSize = 10
			c.Observe = func(e scheduler.Event) {
				if e.Kind == scheduler.EventTick {
					order = append(order, e.Tick.TaskID)
				}
			}
		})
		if at := slices.Index(order, "now"); at < 0 || at > 5_000 {
			f.Errorf("the task that was on time came after %d of %d ticks", at, len(order))
		}
	})
}
