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
