package scheduler_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic/scheduler"
)

// runningJob has the task "report" with a running job.
func (f *fixture) runningJob(overlap string) {
	f.Helper()
	f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', 'yearly', ?)", overlap)
	f.due("report", 2*time.Second)
	f.once()
	f.exec("UPDATE job SET state = 'running'")
}

// queuedTick has a task with a running job and a tick that waits for its end.
func (f *fixture) queuedTick(overlap string) time.Time {
	f.Helper()
	f.runningJob(overlap)
	f.exec("UPDATE job SET jid = 'first'")
	due := f.due("report", time.Second)
	f.once()
	f.want("queued", "SELECT decision FROM periodic_tick WHERE due = ?", utc(due))
	f.want(1, "SELECT count(*) FROM job")
	return due
}

// A queued tick is submitted within a moment of the end of the job, however it
// ends: by notification, or by data_version, and not by a poll.
func TestQueuedTickFollowsTheJob(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"success", "failed", "cancelled"} {
		t.Run(end, func(t *testing.T) {
			both(t, func(f *fixture) {
				due := f.queuedTick("queue")
				var seen *events
				stop := f.run(f.db.Periodic(), func(c *scheduler.Config) { c.PollInterval, seen = 24*time.Hour, watch(c) })
				defer stop()
				f.exec("UPDATE job SET progress = 50 WHERE jid = 'first'")
				f.exec("UPDATE job SET state = 'stuck' WHERE jid = 'first'")
				f.exec("UPDATE job SET state = 'running' WHERE jid = 'first'")
				f.want(1, "SELECT count(*) FROM job")
				f.exec("UPDATE job SET state = ? WHERE jid = 'first'", end)
				seen.until(f, "job", submitted("report"))
				f.want(1, "SELECT count(*) FROM job WHERE due = ? AND state = 'waiting'", utc(due))
				f.want(0, "SELECT count(*) FROM periodic_tick WHERE decision = 'queued'")
			})
		})
	}
}

// The job's end is not committed yet when the tick queues: the trigger has seen
// no tick that waits, and the commit wakes all the same.
func TestQueuedTickFollowsAJobThatIsEnding(t *testing.T) {
	f := newPostgresFixture(t)
	f.runningJob("queue")
	executor := f.open("UPDATE job SET state = 'success'")
	due := f.due("report", time.Second)
	f.once()
	f.want("queued", "SELECT decision FROM periodic_tick WHERE due = ?", utc(due))
	n := f.listen()
	n.count()
	if err := executor.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := n.count(); got != 1 {
		t.Errorf("%d notifications of the end of the job", got)
	}
	f.once()
	f.want(1, "SELECT count(*) FROM job WHERE due = ?", utc(due))
}

// A job that is deleted waits for nothing either.
func TestQueuedTickFollowsADeletedJob(t *testing.T) {
	both(t, func(f *fixture) {
		due := f.queuedTick("queue")
		f.exec("DELETE FROM job")
		f.once()
		f.want(1, "SELECT count(*) FROM job WHERE due = ?", utc(due))
	})
}

// Replace: a job that an executor has is asked to cancel, the tick follows.
func TestReplaceAsksARunningJobToCancel(t *testing.T) {
	both(t, func(f *fixture) {
		due := f.queuedTick("replace")
		f.want(1, "SELECT count(*) FROM job WHERE jid = 'first' AND state = 'running' AND cancel IS NOT NULL AND finished IS NULL")
		newer := f.due("report", 500*time.Millisecond) // and the newest takes its place
		f.once()
		f.want("skipped", "SELECT decision FROM periodic_tick WHERE due = ?", utc(due))
		f.exec("UPDATE job SET state = 'cancelled' WHERE jid = 'first'")
		f.once()
		f.want(1, "SELECT count(*) FROM job WHERE due = ? AND state = 'waiting'", utc(newer))
		f.want(2, "SELECT count(*) FROM job")
		f.guarantees()
	})
}

// Replace: a job that nobody has yet is cancelled in the same transaction.
func TestReplaceCancelsAWaitingJob(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"waiting", "stuck"} {
		t.Run(state, func(t *testing.T) {
			both(t, func(f *fixture) {
				f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', 'yearly', 'replace')")
				f.due("report", 2*time.Second)
				f.once()
				f.exec("UPDATE job SET state = ?, jid = 'first'", state)
				due := f.due("report", time.Second)
				f.once()
				f.want(1, "SELECT count(*) FROM job WHERE jid = 'first' AND state = 'cancelled' AND finished IS NOT NULL")
				f.want(1, "SELECT count(*) FROM job WHERE due = ? AND state = 'waiting'", utc(due))
				f.want(2, "SELECT count(*) FROM periodic_tick WHERE decision = 'submitted'")
				f.guarantees()
			})
		})
	}
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
		f.want("queued", "SELECT decision FROM periodic_tick WHERE due = ?", utc(due))
		f.want(1, "SELECT count(*) FROM job")
		f.exec("UPDATE job SET state = 'success'")
		f.once()
		f.want(1, "SELECT count(*) FROM job WHERE due = ? AND state = 'waiting'", utc(due))
	})
}

func TestAllowSubmitsBesideARunningJob(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', 'yearly', 'allow')")
		for _, ago := range []time.Duration{3 * time.Second, 2 * time.Second, time.Second} {
			f.due("report", ago)
			f.once()
			f.exec("UPDATE job SET state = 'running'")
		}
		f.want(3, "SELECT count(*) FROM job WHERE NOT single")
	})
}

// A queued tick that is too late when its turn comes is recorded as late.
func TestQueuedTickMissesItsDeadline(t *testing.T) {
	both(t, func(f *fixture) {
		due := f.queuedTick("queue")
		f.exec("UPDATE periodic_task SET deadline = 0")
		f.exec("UPDATE job SET state = 'success'")
		f.once()
		f.want("late", "SELECT decision FROM periodic_tick WHERE due = ?", utc(due))
		f.want(1, "SELECT count(*) FROM job")
	})
}

// The policy changes while a tick waits: it is submitted all the same when the
// job ends, and nothing spins.
func TestQueuedTickWhenThePolicyChanges(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"skip", "allow"} {
		t.Run(policy, func(t *testing.T) {
			both(t, func(f *fixture) {
				due := f.queuedTick("queue")
				f.exec("UPDATE periodic_task SET overlap = ?", policy)
				f.exec("UPDATE job SET state = 'success'")
				f.once()
				f.want(1, "SELECT count(*) FROM job WHERE due = ? AND state = 'waiting'", utc(due))
				f.want(0, "SELECT count(*) FROM periodic_tick WHERE decision = 'queued'")
			})
		})
	}
}

// A queued tick of a task that is gone is skipped, and says why.
func TestQueuedTickOfADeletedTask(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]string{
		"deleted": "DELETE FROM periodic_task WHERE id = 'report'",
		"renamed": "UPDATE periodic_task SET id = 'other' WHERE id = 'report'",
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(f *fixture) {
				due := f.queuedTick("queue")
				f.exec("INSERT INTO periodic_task (id, task, timer, enabled) VALUES ('bystander', 'backup', 'yearly', false)")
				f.exec("INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('bystander', '2026-01-01 00:00:00.000000', 'queued', '2026-01-01 00:00:00.000000')")
				f.exec(remove)
				f.want("the task was deleted while the tick waited",
					"SELECT reason FROM periodic_tick WHERE task_id = 'report' AND decision = 'skipped' AND due = ? AND decided > ?", utc(due), f.at(-time.Minute))
				f.want(1, "SELECT count(*) FROM periodic_tick WHERE task_id = 'bystander' AND decision = 'queued'")
				f.exec("UPDATE job SET state = 'success'")
				f.once()
				f.want(0, "SELECT count(*) FROM job WHERE tracker = 'report' AND state = 'waiting'")
			})
		})
	}
}

// A queued tick of a task that is disabled waits, and is first when it is
// enabled again.
func TestQueuedTickOfADisabledTask(t *testing.T) {
	both(t, func(f *fixture) {
		due := f.queuedTick("queue")
		f.exec("UPDATE periodic_task SET enabled = false")
		f.exec("UPDATE job SET state = 'success'")
		f.once()
		f.want("queued", "SELECT decision FROM periodic_tick WHERE due = ?", utc(due))
		f.want(1, "SELECT count(*) FROM job")
		f.exec("UPDATE periodic_task SET enabled = true")
		f.once()
		f.want(1, "SELECT count(*) FROM job WHERE due = ? AND state = 'waiting'", utc(due))
	})
}
