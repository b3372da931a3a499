package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// day is a day as a user writes it, some days from today.
func (f *fixture) day(offset int) string { return f.at(time.Duration(offset) * 24 * time.Hour)[:10] }

// becomes waits until a query returns a value.
func (f *fixture) becomes(value any, query string, args ...any) {
	f.Helper()
	storetest.Eventually(f, query, func() bool { return f.one(query, args...) == fmt.Sprint(value) })
}

// try runs a statement that may fail.
func (f *fixture) try(statement string) error {
	_, err := f.SQL.Exec(statement)
	return err
}

// A day of a calendar keeps 300 tasks from running, and 20 of them run on the next day. Each
// tick has a record, with the reason.
func TestHolidayKeepsTasksFromRunning(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_calendar (name, first_day, last_day, reason) VALUES ('de-BY', ?, ?, 'Heiligabend')", f.day(-1), f.day(0))
		for i := range 300 {
			move := "skip"
			if i < 20 {
				move = "next"
			}
			f.exec("INSERT INTO periodic_task (id, task, timer, exclude_calendars, on_excluded) VALUES (?, 'x', ?, 'other, de-BY', ?)",
				fmt.Sprintf("t%03d", i), "*-*-* "+f.at(-time.Minute)[11:19], move)
		}
		f.once()
		f.want(300, `SELECT count(*) FROM periodic_task WHERE nextrun >= '9999-12-31' AND problem LIKE 'timer "%" cannot follow its calendars: exclude_calendars names the calendar "other", which does not exist%'`)
		f.exec("INSERT INTO periodic_calendar (name, timer, length) VALUES ('other', '2000-01-01', 60)")
		f.once()
		f.want(0, "SELECT count(*) FROM periodic_task WHERE problem IS NOT NULL")
		f.want(280, "SELECT count(*) FROM periodic_task WHERE on_excluded = 'skip' AND due > ? AND due < ?", f.at(0), f.at(24*time.Hour))
		f.want(20, "SELECT count(*) FROM periodic_task WHERE on_excluded = 'next' AND due > ? AND due < ?", f.at(0), f.at(24*time.Hour))
		// What was due today comes due.
		due := f.at(-time.Second)
		f.exec("UPDATE periodic_task SET due = ?, nextrun = ?, timer = ? WHERE on_excluded = 'skip'", due, due, "*-*-* "+due[11:19])
		f.exec("UPDATE periodic_task SET due = ?, nextrun = ? WHERE on_excluded = 'skip'", due[:19]+".000000", due)
		f.once()
		f.want(0, "SELECT count(*) FROM job")
		f.want(280, "SELECT count(*) FROM periodic_tick WHERE decision = 'skipped' AND reason = 'calendar de-BY: Heiligabend' AND missed = 0")
		f.guarantees()
	})
}

// A tick that a calendar moves is recorded with both its times, and its job has the time at which it takes place.
func TestMovedTickIsRecordedWithBothTimes(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_calendar (name, first_day, last_day, reason) VALUES ('c', '2000-01-02', '2000-01-03', 'free')")
		f.exec("INSERT INTO periodic_task (id, task, timer, exclude_calendars, on_excluded) VALUES ('next', 'x', '2000-01-02 08:00', 'c', 'next')")
		f.exec("INSERT INTO periodic_task (id, task, timer, exclude_calendars, on_excluded) VALUES ('previous', 'x', '2000-01-03 08:00', 'c', 'previous')")
		f.exec("INSERT INTO periodic_task (id, task, timer, exclude_calendars, on_excluded) VALUES ('daily', 'x', '08:00', 'c', 'next')")
		stop := f.run(unwatched{f.db.Periodic()}, rarely)
		sleepUntil(midnight.Add(100 * time.Hour))
		stop()
		const line = "substr(due, 6, 8) || ' ' || decision || coalesce(' of ' || substr(nominal, 6, 8), '')"
		ticks := func(id string) string {
			return f.one("SELECT group_concat(line, ', ') FROM (SELECT "+line+" AS line FROM periodic_tick WHERE task_id = ? ORDER BY due)", id)
		}
		for id, want := range map[string]string{
			"next": "01-04 08 submitted of 01-02 08", "previous": "01-01 08 submitted of 01-03 08",
			"daily": "01-01 08 submitted, 01-02 08 skipped, 01-03 08 skipped, 01-04 08 skipped, 01-05 00 skipped",
		} {
			if id == "daily" { // the first job has not run
				want = "01-01 08 submitted, 01-02 08 skipped, 01-03 08 skipped, 01-04 08 skipped"
			}
			if got := ticks(id); got != want {
				f.Errorf("%s: %s, want %s", id, got, want)
			}
		}
		f.want("calendar c: free; it counts once with the tick of 2000-01-04 08:00:00 UTC", "SELECT reason FROM periodic_tick WHERE task_id = 'daily' AND due LIKE '2000-01-03%'")
		f.want("calendar c: free; moved from 2000-01-02 08:00:00 UTC", "SELECT reason FROM periodic_tick WHERE task_id = 'next'")
		f.want("2000-01-04T08:00:00Z", "SELECT due FROM job WHERE tracker = 'next'")
		f.guarantees()
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
				f.exec("INSERT INTO periodic_calendar (name, timer, length) VALUES ('c', '3,7:00', 7200)")
				f.exec("INSERT INTO periodic_task (id, task, timer, exclude_calendars, overlap, catchup) VALUES ('t', 'x', 'hourly', 'c', 'allow', ?)", catchup)
				stop := f.run(unwatched{f.db.Periodic()}, rarely)
				pass(time.Second)
				stop()
				sleepUntil(midnight.Add(8*time.Hour + 30*time.Minute))
				stop = f.run(unwatched{f.db.Periodic()}, rarely)
				pass(2 * time.Second)
				stop()
				f.want(want, `SELECT group_concat(line, ', ') FROM (SELECT substr(due, 12, 2) || ' ' || decision ||
					CASE WHEN missed > 0 THEN ' ' || missed || ' to ' || substr(until, 12, 2) ELSE '' END AS line FROM periodic_tick ORDER BY due)`)
				f.guarantees()
			})
		})
	}
}

// Whoever runs a task by hand does not ask its calendars.
func TestRunNowDoesNotAskCalendars(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_calendar (name, first_day, last_day) VALUES ('c', '2000-01-01', '2999-01-01')")
		f.exec("INSERT INTO periodic_task (id, task, timer, exclude_calendars) VALUES ('t', 'x', 'yearly', 'c')")
		f.once()
		if err := periodic.NewTasks(f.db.Tasks()).RunNow(f.Context(), "t"); err != nil {
			f.Fatal(err)
		}
		f.once()
		f.want(1, "SELECT count(*) FROM job")
	})
}

// A change of a calendar takes effect at once, on what is prepared, too.
func TestCalendarChangeReplans(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_calendar (name, first_day) VALUES ('c', '2000-01-01')")
		for i := range 50 {
			f.exec("INSERT INTO periodic_task (id, task, timer, exclude_calendars) VALUES (?, 'x', 'yearly', 'c')", fmt.Sprint("t", i))
		}
		f.exec("INSERT INTO periodic_task (id, task, timer, exclude_calendars, on_excluded) VALUES ('next', 'x', ?, 'c', 'next')", f.day(1)+" 12:00")
		cfg := f.config("one")
		cfg.Lead = 2 * time.Second
		claimed := make(chan []periodic.Task, 1000)
		s, err := scheduler.New(claims{f.db.Periodic(), claimed}, cfg)
		if err != nil {
			f.Fatal(err)
		}
		if err := s.Start(context.Background()); err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() { f.stop(s) })
		due := time.Now().UTC().Add(10 * time.Second) // in which a slow machine prepares them, too
		f.exec("UPDATE periodic_task SET timer = ? WHERE timer = 'yearly'", "*-*-* "+due.Format("15:04:05.000000"))
		f.becomes(51, "SELECT count(*) FROM periodic_task WHERE due > ?", f.at(0))
		for prepared := 0; prepared < 50; {
			prepared += len(<-claimed)
		}
		f.exec("INSERT INTO periodic_calendar (name, first_day, last_day, reason) VALUES ('c', ?, ?, 'sudden')", f.day(-1), f.day(1))
		f.becomes(50, "SELECT count(*) FROM periodic_tick WHERE decision = 'skipped' AND reason = 'calendar c: sudden'")
		f.want(0, "SELECT count(*) FROM job")
		f.becomes(1, "SELECT count(*) FROM periodic_task WHERE id = 'next' AND due >= ? AND due < ?", f.day(2), f.day(3))
	})
}

// A calendar that a task uses cannot be emptied, and a name that does not exist is refused by Go.
func TestUsedCalendarsStay(t *testing.T) {
	both(t, func(f *fixture) {
		tasks := periodic.NewTasks(f.db.Tasks())
		first := time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC)
		rows := []days.Row{{Name: "c", First: first}, {Name: "c", Timer: "Mon 08:00", Length: time.Hour}, {Name: "cc", First: first}}
		if err := periodic.NewTasks(f.db.Tasks()).Calendars.Change(f.Context(), rows, nil); err != nil {
			f.Fatal(err)
		}
		task := periodic.NewTask("t", "x", "daily")
		task.Days.Exclude = "c,d"
		if err := tasks.Add(f.Context(), task); err == nil || !strings.Contains(err.Error(), `exclude_calendars names the calendar "d", which does not exist`) {
			f.Errorf("Add: %v", err)
		}
		task.Days.Exclude, task.Days.Run = "", "c"
		if err := tasks.Add(f.Context(), task); err != nil {
			f.Fatal(err)
		}
		for _, query := range []string{"DELETE FROM periodic_calendar WHERE name = 'c'", "UPDATE periodic_calendar SET name = 'd' WHERE name = 'c'", "DELETE FROM periodic_calendar"} {
			if err := f.try(query); err == nil || !strings.Contains(err.Error(), "take") {
				f.Errorf("%s: %v", query, err)
			}
		}
		f.exec("DELETE FROM periodic_calendar WHERE first_day IS NOT NULL")
		f.exec("UPDATE periodic_task SET run_calendars = NULL")
		f.exec("DELETE FROM periodic_calendar")
		task, err := tasks.Get(f.Context(), "t")
		if err != nil || !task.Days.Empty() {
			f.Errorf("%+v, %v", task.Days, err)
		}
	})
}
