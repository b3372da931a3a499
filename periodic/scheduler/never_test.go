package scheduler_test

import (
	"testing"
	"time"
)

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
