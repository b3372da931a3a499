package scheduler_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// What was missed comes one after the other, the newest of it only, and then the timer goes on.
func TestPaceOfCatchup(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.exec(`INSERT INTO periodic_task (id, task, timer, overlap, catchup, catchup_limit, catchup_delay)
			VALUES ('report', 'backup', 'hourly', 'allow', 'all', 3, 600)`)
		stop := f.run(unwatched{f.db.Periodic()}, rarely)
		sleepUntil(midnight.Add(90 * time.Minute))
		stop()
		sleepUntil(midnight.Add(7*time.Hour + 30*time.Minute))
		stop = f.run(unwatched{f.db.Periodic()}, rarely)
		sleepUntil(midnight.Add(9*time.Hour + time.Minute))
		stop()
		f.want("01:00 at 01:00, 05:00 at 07:30, 06:00 at 07:40, 07:00 at 07:50, 08:00 at 08:00, 09:00 at 09:00",
			`SELECT group_concat(line, ', ') FROM (SELECT substr(due, 12, 5) || ' at ' || substr(decided, 12, 5) AS line
				FROM periodic_tick WHERE decision = 'submitted' ORDER BY due)`)
		f.want("no scheduler ran in time; only the newest 3 of the missed ticks are submitted, its catchup_limit",
			"SELECT reason FROM periodic_tick WHERE decision = 'missed' AND missed = 3")
		f.guarantees()
	})
}

// All ticks of a task are later by the same time, which its id determines; due keeps the time of the timer.
func TestPaceSpread(t *testing.T) {
	bubble(t, func(f *fixture) {
		for _, id := range []string{"a", "b", "c", "d"} {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap, spread, deadline) VALUES (?, 'backup', 'hourly', 'allow', 3000, 60)", id)
		}
		stop := f.run(unwatched{f.db.Periodic()}, seldom)
		sleepUntil(midnight.Add(12 * time.Hour))
		stop()
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE due NOT LIKE '%:00:00.000000' OR decision <> 'submitted'")
		f.want(4, "SELECT count(*) FROM (SELECT DISTINCT task_id, substr(decided, 15, 5) FROM periodic_tick)")
		f.want(4, "SELECT count(*) FROM (SELECT DISTINCT substr(decided, 15, 5) FROM periodic_tick WHERE substr(decided, 15, 5) < '50:00')")
		f.guarantees()
	})
}

// A task ends after max_ticks, can still be run by hand, and goes on when somebody raises the number.
func TestPaceMaxTicks(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap, max_ticks) VALUES ('few', 'backup', '*:*:*', 'allow', 2)")
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('many', 'backup', '*:*:*', 'allow')")
		f.start(f.config("count"))
		ended := func(ticks int) {
			f.Helper()
			storetest.Eventually(f, "the task ends", func() bool {
				return f.one("SELECT count(*) FROM periodic_task WHERE id = 'few' AND tick_count = ? AND due = '9999-12-31 23:59:59.000000' AND nextrun = due AND problem IS NULL", ticks) == "1"
			})
		}
		ended(2)
		f.want(2, "SELECT count(*) FROM job WHERE tracker = 'few'")
		if err := periodic.NewTasks(f.db.Tasks()).RunNow(f.Context(), "few"); err != nil {
			f.Fatal(err)
		}
		storetest.Eventually(f, "the job of the run by hand", func() bool { return f.one("SELECT count(*) FROM job WHERE tracker = 'few'") == "3" })
		ended(2)
		f.exec("UPDATE periodic_task SET max_ticks = 3 WHERE id = 'few'")
		ended(3)
		f.exec("UPDATE periodic_task SET tick_count = 1 WHERE id = 'few'")
		ended(3)
		f.want(6, "SELECT count(*) FROM job WHERE tracker = 'few'")
		f.want("", "SELECT tick_count FROM periodic_task WHERE id = 'many'")
	})
}

// A tick that the queue refuses does not count.
func TestPaceMaxTicksCountsNoRefusedTick(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.addAcme("once", "skip")
		f.addAcme("good", "skip")
		f.exec("UPDATE periodic_task SET max_ticks = 1 WHERE id = 'once'")
		q.refuse["once"] = sink.Submission{Refused: "the kind is unknown"}
		f.plan(q)
		f.due("once", time.Second)
		f.due("good", time.Second)
		f.start(withSubmitter(f.config("refused"), q))
		storetest.Eventually(f, "the tick is refused, and the task planned anew", func() bool {
			return f.one("SELECT count(*) FROM periodic_tick WHERE task_id = 'once' AND decision = 'skipped'") == "1" &&
				f.one("SELECT count(*) FROM periodic_task WHERE id = 'once' AND tick_count = 0 AND nextrun BETWEEN '2000-01-01' AND '9999-01-01'") == "1"
		})
		q.set(func() { delete(q.refuse, "once") })
		f.due("once", 0)
		f.exec("UPDATE periodic_task SET priority = 1 WHERE id = 'once'") // wakes the scheduler
		storetest.Eventually(f, "it is submitted, and the task has ended", func() bool {
			return f.one(acmeJobs, "once") == "1" && f.one("SELECT count(*) FROM periodic_task WHERE id = 'once' AND tick_count = 1 AND nextrun > '9999-12-31'") == "1"
		})
	})
}
