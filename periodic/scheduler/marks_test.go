package scheduler_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

func TestG4MarksAtStartup(t *testing.T) {
	both(t, func(f *fixture) {
		marks := map[string]struct {
			worker string
			age    time.Duration
			free   bool
		}{
			"own":           {"m-e@abc.1", time.Second, true},
			"own-name":      {"m e", time.Second, true},
			"live":          {"you@abc.1", time.Second, false},
			"live-name":     {"you", time.Second, false},
			"live-prefix":   {"m-e2@abc.1", time.Second, false},
			"live-prefix-2": {"m-e.2@abc.1", time.Second, false},
			"live-prefix-3": {"m e2", time.Second, false},
			"expired":       {"you@abc.2", 31 * time.Second, true},
			"future":        {"you@abc.3", -time.Hour, true}, // a clock was set back
		}
		for id, m := range marks {
			f.exec(insertTask, id, "yearly")
			f.due(id, time.Second)
			f.exec("UPDATE periodic_task SET worker = ?, marked = ? WHERE id = ?", m.worker, f.at(-m.age), id)
		}
		f.once(named("m e"))
		for id, m := range marks {
			worker, jobs := m.worker, 0
			if m.free {
				worker, jobs = "", 1
			}
			f.want(worker, "SELECT worker FROM periodic_task WHERE id = ?", id)
			f.want(jobs, "SELECT count(*) FROM job WHERE tracker = ?", id)
		}
	})
}

// What was done under a mark that was lost does not commit; what the heir of
// the mark does, does.
func TestG4LostMarkDoesNotCommit(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "lost", "yearly")
		f.exec(insertTask, "kept", "yearly")
		due := f.due("lost", time.Second)
		f.due("kept", time.Second)
		f.between(func() {
			f.exec("UPDATE periodic_task SET worker = 'heir/abc/1', marked = ? WHERE id = 'lost'", f.at(0))
		})
		f.want(0, "SELECT count(*) FROM job WHERE tracker = 'lost'")
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = 'lost'")
		f.want("heir/abc/1", "SELECT worker FROM periodic_task WHERE id = 'lost'")
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'kept'")

		f.exec("UPDATE periodic_task SET worker = NULL, marked = NULL")
		f.once()
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'lost' AND due = ?", utc(due))
	})
}

// SQLite takes any value for the time of a mark. Such a mark has expired, as one without a time has, and
// hides none that has expired, too.
func TestBadInputMarkOfOddTime(t *testing.T) {
	t.Parallel()
	for _, marked := range []string{"unixepoch()", "''", "julianday('now')", "x'00'", "'soon'", "'9999-12-31 23:59:59'", "-1", "NULL"} {
		t.Run(marked, func(t *testing.T) {
			f := newFixture(migrated.New(t, storetest.SQLite))
			f.exec(insertTask, "odd", "yearly")
			f.exec(insertTask, "dead", "yearly")
			f.once()
			f.exec("DROP TRIGGER nextrun_task_refuse_marked") // such a row may be older than the trigger
			_, seen := f.start(f.db.Periodic())
			past := f.at(-time.Minute)
			f.exec("UPDATE periodic_task SET worker = 'somebody', marked = CASE id WHEN 'odd' THEN "+marked+" ELSE ? END, due = ?, nextrun = ?, timer = ?",
				past, past, past, "*"+past[4:])
			jobs := map[string]bool{}
			seen.until(f, "job of each task", func(e scheduler.Event) bool {
				if e.Kind == scheduler.EventTick {
					jobs[e.Tick.TaskID] = true
				}
				return len(jobs) == 2
			})
		})
	}
}

// A unique index of the user's refuses the job although none is pending: the tick
// is skipped and says so, whatever the policy, and nothing spins.
func TestJobsThatAnIndexRefuses(t *testing.T) {
	t.Parallel()
	for _, overlap := range []string{"queue", "skip", "allow"} {
		t.Run(overlap, func(t *testing.T) {
			both(t, func(f *fixture) {
				f.exec("CREATE UNIQUE INDEX one_report ON job (subject)")
				f.exec("INSERT INTO job (jid, task, subject, state) VALUES ('old', 'backup', 'report', 'success')")
				f.exec("INSERT INTO periodic_task (id, task, timer, overlap, subject) VALUES ('report', 'backup', 'yearly', ?, 'report')", overlap)
				f.due("report", time.Second)
				h := &hooked{Store: f.db.Periodic()}
				s, seen := f.start(h)
				seen.until(f, "decision", kindOf(scheduler.EventTick))
				f.stop(s)
				f.want("skipped", "SELECT decision FROM periodic_tick")
				f.want(1, "SELECT count(*) FROM periodic_tick WHERE reason LIKE 'the queue refused the job%'")
				f.want(1, "SELECT count(*) FROM periodic_task WHERE problem LIKE 'the queue refused the job%' AND nextrun > ?", f.at(0))
				if n := h.updates.Load(); n > 10 {
					f.Errorf("%d transactions", n)
				}
			})
		})
	}
}
