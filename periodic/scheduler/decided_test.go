package scheduler_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// Ticks that were decided before, by a backfill or another scheduler, take no row away from those beside them that were not (G2).
func TestG2BesideDecidedTicks(t *testing.T) {
	t.Parallel()
	const task = "INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', '*:*:0/10', 'allow')"
	for name, meanwhile := range map[string]func(f *fixture, first, now time.Time){
		"the oldest was backfilled": func(f *fixture, first, _ time.Time) {
			f.backfill("report", first, first.Add(25*time.Second))
		},
		"the oldest was backfilled between mark and submit": func(f *fixture, first, _ time.Time) {
			f.backfill("report", first, first.Add(15*time.Second))
		},
		"some amid were backfilled": func(f *fixture, first, _ time.Time) {
			f.backfill("report", first.Add(30*time.Second), first.Add(55*time.Second))
		},
		"the oldest were missed": func(f *fixture, first, _ time.Time) {
			f.exec(`INSERT INTO periodic_tick (task_id, due, decision, until, missed, decided)
				VALUES ('report', ?, 'missed', ?, 3, ?)`, utc(first), utc(first.Add(20*time.Second)), utc(first))
		},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(f *fixture) {
				f.exec(task)
				f.once()
				now := f.time(f.at(0))
				first := now.Add(-2 * time.Minute).Truncate(10 * time.Second)
				f.exec("UPDATE periodic_task SET due = ?, nextrun = ?", utc(first), utc(first))
				if name == "the oldest was backfilled between mark and submit" {
					f.between(func() { meanwhile(f, first, now) })
				} else {
					meanwhile(f, first, now)
				}
				f.once()
				f.guarantees()
				for due := first; !due.After(now); due = due.Add(10 * time.Second) {
					f.want(1, "SELECT count(*) FROM periodic_tick WHERE ? BETWEEN due AND coalesce(until, due)", utc(due))
				}
			})
		})
	}
}

// backfill submits the jobs of past ticks.
func (f *fixture) backfill(id string, from, to time.Time) {
	f.Helper()
	b := periodic.Backfill{From: from, To: to}
	f.done(periodic.NewTasks(f.db.Tasks()).Backfill(f.Context(), id, b))
}

// More ticks were backfilled since an outage began than one decision reads: each
// tick has a row all the same.
func TestG2BesideVeryManyDecidedTicks(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', '*:*', 'allow')")
		f.once()
		now := f.time(f.at(0))
		first := now.Add(-time.Duration(3*periodic.MaxDecided) * time.Minute).Truncate(time.Minute)
		f.exec("UPDATE periodic_task SET due = ?, nextrun = ?", utc(first), utc(first))
		f.exec("INSERT INTO periodic_tick (task_id, due, decision, decided) SELECT 'report', "+
			map[string]string{
				"postgres": "timestamp '" + utc(first) + "' + n * interval '1 minute'",
				"sqlite":   "strftime('%Y-%m-%d %H:%M:%S.000000', '" + utc(first) + "', '+' || n || ' minutes')",
			}[f.Kind]+", 'submitted', ? FROM "+f.series(2*periodic.MaxDecided+500)+" WHERE n % 100 <> 0", utc(now))
		f.once()
		f.want(3*periodic.MaxDecided+1, `SELECT sum(CASE WHEN decision = 'missed' THEN missed ELSE 1 END) FROM periodic_tick WHERE due <= ?`, utc(now))
		f.want(1, "SELECT count(*) FROM job")
		f.guarantees()
	})
}

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
