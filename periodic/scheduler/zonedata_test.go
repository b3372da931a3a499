package scheduler_test

import (
	"testing"
	"time"
)

// Zone data that are new since a tick was planned move it: it happens once, when the timer says now, and what the timer does not
// say any more leaves no record (G1, G2).
func TestG2NewZoneDataBetweenPlanAndTick(t *testing.T) {
	both(t, func(f *fixture) {
		now := f.time(f.at(0)).Truncate(time.Second)
		for id, tick := range map[string]struct{ planned, moved time.Duration }{
			"later":   {-time.Second, time.Hour},
			"earlier": {-time.Second, -time.Hour},
			"decided": {-time.Second, -time.Hour},
			"is late": {-90 * time.Minute, time.Hour},
			"same":    {-time.Second, 0},
		} {
			planned := now.Add(tick.planned)
			due := planned.Add(tick.moved)
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES (?, 'backup', ?, 'allow')", id, due.Format("*-01-02 15:04:05"))
			f.exec("UPDATE periodic_task SET due = ?, nextrun = ?, since = ? WHERE id = ?", utc(planned), utc(planned), utc(now.AddDate(0, -1, 0)), id)
			if id == "decided" {
				f.exec("INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES (?, ?, 'submitted', ?)", id, utc(due), utc(due))
			}
		}
		f.once()
		for id, due := range map[string]time.Duration{"earlier": -time.Hour, "is late": -30 * time.Minute, "same": 0} {
			at := now.Add(due)
			if id != "is late" {
				at = at.Add(-time.Second)
			}
			f.want(1, "SELECT count(*) FROM periodic_tick WHERE task_id = ? AND decision = 'submitted' AND due = ?", id, utc(at))
			f.want(1, "SELECT count(*) FROM job WHERE tracker = ? AND due = ?", id, utc(at))
			f.want(1, "SELECT count(*) FROM periodic_task WHERE id = ? AND due = ?", id, utc(at.AddDate(1, 0, 0)))
		}
		f.want(1, "SELECT count(*) FROM periodic_task WHERE id = 'later' AND due = ?", utc(now.Add(time.Hour-time.Second)))
		f.want(1, "SELECT count(*) FROM periodic_task WHERE id = 'decided' AND due = ?", utc(now.Add(-time.Hour-time.Second).AddDate(1, 0, 0)))
		f.want(3, "SELECT count(*) FROM job")
		f.want(4, "SELECT count(*) FROM periodic_tick")
		f.guarantees()
	})
}
