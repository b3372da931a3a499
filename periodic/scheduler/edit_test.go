package scheduler_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// An edit between mark and submit ends as if it had come first, and the rest of
// the batch commits.
func TestEditBetweenMarkAndSubmit(t *testing.T) {
	t.Parallel()
	edits := map[string]struct {
		edit   string
		jobs   int // of the edited task, after the next round
		planAt string
	}{
		"disabled":  {"UPDATE periodic_task SET enabled = false WHERE id = 'edited'", 0, ""},
		"deleted":   {"DELETE FROM periodic_task WHERE id = 'edited'", 0, ""},
		"timer":     {"UPDATE periodic_task SET timer = '2030-01-01' WHERE id = 'edited'", 0, "2030-01-01 00:00:00"},
		"nextrun":   {"UPDATE periodic_task SET nextrun = '2031-05-06 07:08:09' WHERE id = 'edited'", 0, "2031-05-06 07:08:09"},
		"starts":    {"UPDATE periodic_task SET timer = 'yearly', starts = '2032-06-01 00:00:00' WHERE id = 'edited'", 0, "2033-01-01 00:00:00"},
		"args":      {`UPDATE periodic_task SET args = '{"edited": true}' WHERE id = 'edited'`, 1, ""},
		"no change": {"UPDATE periodic_task SET timer = timer, enabled = enabled WHERE id = 'edited'", 1, ""},
	}
	for name, test := range edits {
		t.Run(name, func(t *testing.T) {
			both(t, func(f *fixture) {
				f.exec(insertTask, "edited", "yearly")
				f.exec(insertTask, "other", "yearly")
				f.due("edited", time.Second)
				f.due("other", time.Second)
				f.between(func() { f.exec(test.edit) })
				f.want(1, "SELECT count(*) FROM job WHERE tracker = 'other'")
				f.once()
				f.want(test.jobs, "SELECT count(*) FROM job WHERE tracker = 'edited'")
				f.want(test.jobs, "SELECT count(*) FROM periodic_tick WHERE task_id = 'edited'")
				if test.planAt != "" {
					f.want(1, "SELECT count(*) FROM periodic_task WHERE id = 'edited' AND nextrun = ?", test.planAt+f.zeros())
				}
				if name == "args" {
					f.want(`{"edited": true}`, "SELECT args FROM job WHERE tracker = 'edited'")
				}
				f.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
				f.guarantees()
			})
		})
	}
}

// zeros completes a time for the comparison of texts on SQLite.
func (f *fixture) zeros() string {
	if f.Kind == "sqlite" {
		return ".000000"
	}
	return ""
}

// The scheduler's own updates do not count as edits, and edits of columns that
// do not move the plan leave it.
func TestEditKeepsThePlan(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.once()
		planned := f.one("SELECT nextrun FROM periodic_task")
		for _, edit := range []string{
			"args = '[1]'", "subject = 'new'", "priority = 10", "overlap = 'allow'", "grace = 1",
			"deadline = 9", "summary = 'a summary'", "group_ = 'night'", "enabled = false",
		} {
			f.exec("UPDATE periodic_task SET " + edit)
			f.want(planned, "SELECT nextrun FROM periodic_task")
			f.want(planned, "SELECT due FROM periodic_task")
		}
		for _, edit := range []string{"enabled = true", "timer = 'monthly'", "starts = '2026-01-01 00:00:00'", "ends = '2099-01-01 00:00:00'"} {
			f.exec("UPDATE periodic_task SET " + edit)
			f.want("", "SELECT due FROM periodic_task")
			f.once()
			f.want(1, "SELECT count(*) FROM periodic_task WHERE due = nextrun AND due IS NOT NULL")
		}
		f.want(0, "SELECT count(*) FROM job")
	})
}

// Setting nextrun runs a task then, once, whatever its timer says.
func TestRunNow(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, grace, starts) VALUES ('report', 'backup', 'yearly', 0, '2090-01-01 00:00:00')")
		f.once()
		planned := f.one("SELECT nextrun FROM periodic_task")
		at := f.at(-time.Hour) // older than grace, and before starts
		f.exec("UPDATE periodic_task SET nextrun = ?", at)
		f.once()
		f.want(1, "SELECT count(*) FROM job WHERE due = ? AND tracker = 'report'", at)
		f.want(planned, "SELECT nextrun FROM periodic_task")
		f.want(planned, "SELECT due FROM periodic_task")
	})
}

// A next run set to a time in the past runs once: what the timer had between it and the edit is not made up for.
func TestRunInThePastMakesUpForNothing(t *testing.T) {
	both(t, func(f *fixture) {
		for _, catchup := range []string{"one", "none", "all"} {
			f.exec("INSERT INTO periodic_task (id, task, timer, grace, overlap, catchup) VALUES (?, 'backup', '*:0/1', 86400, 'allow', ?)", catchup, catchup)
		}
		f.once()
		at := f.at(-time.Hour - 7*time.Second)
		f.exec("UPDATE periodic_task SET nextrun = ?", at)
		edited := f.at(0)
		f.once()
		f.want(3, "SELECT count(*) FROM periodic_tick WHERE due = ? AND decision = 'submitted'", at)
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE due <> ? AND due < ?", at, edited)
		f.want(3, "SELECT count(*) FROM periodic_task WHERE nextrun > ?", edited)
	})
}

// Ticks that fell due while a task was disabled are not made up for.
func TestEnableWithoutBurst(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.due("report", 240*time.Hour)
		f.exec("UPDATE periodic_task SET enabled = false")
		f.once()
		f.exec("UPDATE periodic_task SET enabled = true")
		f.once()
		f.want(0, "SELECT count(*) FROM job")
		f.want(0, "SELECT count(*) FROM periodic_tick")
		f.want(1, "SELECT count(*) FROM periodic_task WHERE nextrun > ?", f.at(0))
	})
}

// A task that will not elapse again is left alone until it is edited.
func TestNever(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "past", "2020-01-01")
		f.exec(insertTask, "impossible", "*-02-30")
		f.once()
		f.want(2, "SELECT count(*) FROM periodic_task WHERE due = ? AND nextrun = due", utc(periodic.Never))
		f.want(`warning: timer "*-02-30" never elapses`, "SELECT problem FROM periodic_task WHERE id = 'impossible'")
		f.want("", "SELECT problem FROM periodic_task WHERE id = 'past'")
		f.exec("UPDATE periodic_task SET timer = 'daily' WHERE id = 'impossible'")
		f.once()
		f.want(1, "SELECT count(*) FROM periodic_task WHERE id = 'impossible' AND nextrun < '2100-01-01' AND problem IS NULL")
	})
}

// What falls due between the insert of a task and its first plan is accounted for, whenever a scheduler comes.
func TestTicksAfterAnInsertAreNotLost(t *testing.T) {
	both(t, func(f *fixture) {
		before := f.at(0)
		f.exec(insertTask, "report", "*:0/10")
		f.want(1, "SELECT count(*) FROM periodic_task WHERE since BETWEEN ? AND ?", before, f.at(time.Second))
		f.exec("UPDATE periodic_task SET since = ?", f.at(-35*time.Minute)) // no scheduler ran meanwhile
		f.once()
		f.want(1, "SELECT count(*) FROM job")
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE decision = 'missed' AND missed BETWEEN 2 AND 3")
	})
}

// What falls due between an edit and the plan that follows from it is accounted for, whenever a scheduler comes.
func TestTicksAfterAnEditAreNotLost(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer) VALUES ('report', 'backup', 'yearly')")
		f.once()
		f.exec("UPDATE periodic_task SET timer = '*:0/10'")
		f.exec("UPDATE periodic_task SET since = ?", f.at(-35*time.Minute))
		f.once()
		f.want(1, "SELECT count(*) FROM job")
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE decision = 'missed' AND missed BETWEEN 2 AND 3")
		f.want(1, "SELECT count(*) FROM periodic_task WHERE nextrun > ?", f.at(0))
	})
}
