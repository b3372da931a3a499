package scheduler_test

import (
	"testing"
	"time"
)

// Of what was missed only the newest is submitted, and then the timer goes on.
func TestPaceOfCatchup(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.exec(`INSERT INTO periodic_task (id, task, timer, overlap, catchup, catchup_limit)
			VALUES ('report', 'backup', 'hourly', 'allow', 'all', 3)`)
		stop := f.run(unwatched{f.db.Periodic()}, rarely)
		sleepUntil(midnight.Add(90 * time.Minute))
		stop()
		sleepUntil(midnight.Add(7*time.Hour + 30*time.Minute))
		stop = f.run(unwatched{f.db.Periodic()}, rarely)
		sleepUntil(midnight.Add(9*time.Hour + time.Minute))
		stop()
		f.want("01:00 at 01:00, 05:00 at 07:30, 06:00 at 07:30, 07:00 at 07:30, 08:00 at 08:00, 09:00 at 09:00",
			`SELECT group_concat(line, ', ') FROM (SELECT substr(due, 12, 5) || ' at ' || substr(decided, 12, 5) AS line
				FROM periodic_tick WHERE decision = 'submitted' ORDER BY due)`)
		f.want("limit", "SELECT cause FROM periodic_tick WHERE decision = 'missed' AND missed = 3")
		f.guarantees()
	})
}

// All ticks of a task are later by the same time, which its id determines; due keeps the time of the timer.
func TestJitterSpreadsTasks(t *testing.T) {
	bubble(t, func(f *fixture) {
		for _, id := range []string{"a", "b", "c", "d"} {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap, jitter, deadline) VALUES (?, 'backup', 'hourly', 'allow', 3000, 60)", id)
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
