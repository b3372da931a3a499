package scheduler_test

import (
	"fmt"
	"testing"
	"time"
)

// day is a day as a user writes it, some days from today.
func (f *fixture) day(offset int) string { return f.at(time.Duration(offset) * 24 * time.Hour)[:10] }

// try runs a statement that may fail.
func (f *fixture) try(statement string) error {
	_, err := f.SQL.Exec(statement)
	return err
}

// A day of a calendar keeps 300 tasks from running. Each tick has a record, with the reason.
func TestHolidayKeepsTasksFromRunning(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_calendar (name, first_day, last_day, reason) VALUES ('de-BY', ?, ?, 'Heiligabend')", f.day(-1), f.day(0))
		for i := range 300 {
			f.exec("INSERT INTO periodic_task (id, task, timer, exclude_calendars) VALUES (?, 'x', ?, 'other, de-BY')",
				fmt.Sprintf("t%03d", i), "*-*-* "+f.at(-time.Minute)[11:19])
		}
		f.once()
		f.want(300, `SELECT count(*) FROM periodic_task WHERE nextrun < '9999-12-31' AND problem LIKE 'warning: exclude_calendars names the calendar "other", which does not exist%'`)
		f.exec("INSERT INTO periodic_calendar (name, first_day) VALUES ('other', '2000-01-01')")
		// What was due today comes due.
		due := f.at(-time.Second)
		f.exec("UPDATE periodic_task SET due = ?, nextrun = ?, timer = ?", due, due, "*-*-* "+due[11:19])
		f.exec("UPDATE periodic_task SET due = ?, nextrun = ?", due[:19]+".000000", due)
		f.once()
		f.want(0, "SELECT count(*) FROM periodic_task WHERE problem IS NOT NULL")
		f.want(0, "SELECT count(*) FROM job")
		f.want(300, "SELECT count(*) FROM periodic_tick WHERE decision = 'skipped' AND cause = 'calendar' AND reason = 'calendar de-BY: Heiligabend' AND missed = 0")
		f.guarantees()
	})
}

// The day of a tick is that of the zone of its timer.
func TestCalendarsAreAskedInTheZoneOfTheTimer(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_calendar (name, first_day) VALUES ('c', '2000-01-02')")
		for id, timer := range map[string]string{"utc": "*-*-* 18:00", "tokyo": "*-*-* 03:00 Asia/Tokyo"} { // the same time
			f.exec("INSERT INTO periodic_task (id, task, timer, exclude_calendars) VALUES (?, 'x', ?, 'c')", id, timer)
		}
		s, _ := f.start(unwatched{f.db.Periodic()})
		sleepUntil(time.Date(2000, 1, 2, 19, 0, 0, 0, time.UTC))
		f.stop(s)
		const line = "SELECT group_concat(substr(due, 9, 2) || ' ' || decision, ', ') FROM periodic_tick WHERE task_id = "
		f.want("01 submitted, 02 skipped", line+"'utc'")
		f.want("01 skipped, 02 submitted", line+"'tokyo'")
	})
}

// After an outage the newest tick that no calendar excludes is submitted, and those that are excluded are skipped.
func TestCatchupObeysCalendars(t *testing.T) {
	t.Parallel()
	for catchup, want := range map[string]string{
		"one":  "01 missed 2 to 02, 03 skipped 2 to 04, 05 missed 1 to 05, 06 submitted, 07 skipped 2 to 08",
		"all":  "01 submitted, 02 submitted, 03 skipped, 04 skipped, 05 submitted, 06 submitted, 07 skipped, 08 skipped",
		"none": "01 missed 2 to 02, 03 skipped 2 to 04, 05 missed 2 to 06, 07 skipped 2 to 08",
	} {
		t.Run(catchup, func(t *testing.T) {
			bubble(t, func(f *fixture) {
				f.exec("INSERT INTO periodic_calendar (name, first_day, last_day) VALUES ('c', '2000-01-03', '2000-01-04'), ('c', '2000-01-07', '2000-01-08')")
				f.exec("INSERT INTO periodic_task (id, task, timer, exclude_calendars, overlap, catchup) VALUES ('t', 'x', '12:00', 'c', 'allow', ?)", catchup)
				s, _ := f.start(unwatched{f.db.Periodic()})
				pass(time.Second)
				f.stop(s)
				sleepUntil(midnight.Add(7*24*time.Hour + 12*time.Hour + 30*time.Minute))
				s, _ = f.start(unwatched{f.db.Periodic()})
				pass(2 * time.Second)
				f.stop(s)
				f.want(want, `SELECT group_concat(line, ', ') FROM (SELECT substr(due, 9, 2) || ' ' || decision ||
					CASE WHEN missed > 0 THEN ' ' || missed || ' to ' || substr(until, 9, 2) ELSE '' END AS line FROM periodic_tick ORDER BY due)`)
				f.guarantees()
			})
		})
	}
}
