package scheduler_test

import (
	"testing"
	"time"
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
