package scheduler_test

import (
	"testing"
	"time"
)

// All ticks of a task are later by the same time, which its id determines; due keeps the time of the timer.
func TestJitterSpreadsTasks(t *testing.T) {
	bubble(t, func(f *fixture) {
		for _, id := range []string{"a", "b", "c", "d"} {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap, jitter, deadline) VALUES (?, 'backup', 'hourly', 'allow', 3000, 60)", id)
		}
		s, _ := f.start(unwatched{f.db.Periodic()})
		sleepUntil(midnight.Add(12 * time.Hour))
		f.stop(s)
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE due NOT LIKE '%:00:00.000000' OR decision <> 'submitted'")
		f.want(4, "SELECT count(*) FROM (SELECT DISTINCT task_id, substr(decided, 15, 5) FROM periodic_tick)")
		f.want(4, "SELECT count(*) FROM (SELECT DISTINCT substr(decided, 15, 5) FROM periodic_tick WHERE substr(decided, 15, 5) < '50:00')")
		f.guarantees()
	})
}
