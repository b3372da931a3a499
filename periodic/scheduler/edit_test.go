package scheduler_test

import (
	"testing"
	"time"
)

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
		f.exec("INSERT INTO periodic_calendar (name, first_day, last_day) VALUES ('c', '2000-01-01', '2999-01-01')")
		f.exec("INSERT INTO periodic_task (id, task, timer, grace, starts, exclude_calendars) VALUES ('report', 'backup', 'yearly', 0, '2090-01-01 00:00:00', 'c')")
		f.once()
		planned := f.one("SELECT nextrun FROM periodic_task")
		at := f.at(-time.Hour) // older than grace, before starts, and on a day of a calendar
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

// What falls due between the insert or the edit of a task and the plan that follows from it is accounted for, whenever
// a scheduler comes.
func TestTicksAfterAnEditAreNotLost(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "edited", "yearly")
		f.once()
		before := f.at(0)
		f.exec("UPDATE periodic_task SET timer = '*:0/10'")
		f.exec(insertTask, "inserted", "*:0/10")
		f.want(2, "SELECT count(*) FROM periodic_task WHERE since BETWEEN ? AND ?", before, f.at(time.Second))
		f.exec("UPDATE periodic_task SET since = ?", f.at(-35*time.Minute)) // no scheduler ran meanwhile
		f.once()
		f.want(2, "SELECT count(DISTINCT tracker) FROM job")
		f.want(2, "SELECT count(*) FROM periodic_tick WHERE decision = 'missed' AND missed BETWEEN 2 AND 3")
		f.want(2, "SELECT count(*) FROM periodic_task WHERE nextrun > ?", f.at(0))
	})
}

// The warning of a timer that never elapses comes and goes with the row. One whose last time has passed gets none: it is done.
func TestNeverAfterEdits(t *testing.T) {
	both(t, func(f *fixture) {
		const warning = `warning: timer "*-02-30" never elapses`
		problem := func(want string) {
			f.Helper()
			f.once()
			f.want(want, "SELECT problem FROM periodic_task WHERE id = 'report'")
		}
		f.exec(insertTask, "report", "yearly")
		problem("")
		f.exec("UPDATE periodic_task SET timer = '*-02-30'")
		problem(warning)
		f.exec("UPDATE periodic_task SET args = '{}'") // which is no cure
		problem(warning)
		f.exec("UPDATE periodic_task SET enabled = false")
		f.once()
		f.exec("UPDATE periodic_task SET enabled = true")
		problem(warning)
		f.exec("UPDATE periodic_task SET nextrun = ?", utc(time.Now().Add(-time.Second))) // run it once by hand
		problem(warning)
		f.want(1, "SELECT count(*) FROM job")
		f.exec("UPDATE periodic_task SET timer = 'yearly'")
		problem("")

		f.exec("UPDATE periodic_task SET timer = '2020-01-01'") // done
		problem("")
		f.exec("UPDATE periodic_task SET timer = 'daily', starts = '2020-01-01 00:00:00', ends = '2020-02-01 00:00:00'")
		problem("") // done, too
		f.exec("UPDATE periodic_task SET timer = 'yearly', starts = '2020-02-01 00:00:00', ends = '2020-03-01 00:00:00'")
		problem(`warning: timer "yearly" never elapses between starts and ends`)
	})
}
