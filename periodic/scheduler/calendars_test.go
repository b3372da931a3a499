package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
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

func at(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPreview(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-03-28 12:00:30")
	clock := func(text string) time.Time { return at(t, "2026-03-28 "+text) }
	task := func(id, timer string, change func(*periodic.Task)) periodic.Task {
		task := periodic.NewTask(id, "echo", timer)
		task.Created = at(t, "2026-03-28 12:00:00")
		task.NextRun = periodic.Unplanned
		if change != nil {
			change(&task)
		}
		return task
	}
	planned := func(due string) func(*periodic.Task) {
		return func(t *periodic.Task) { t.Due, t.NextRun = clock(due), clock(due) }
	}
	paused := func(until time.Time) func(*periodic.Task) {
		return func(t *periodic.Task) { t.Pause = periodic.Pause{Since: clock("11:00:00"), Until: until} }
	}
	tests := []struct {
		name string
		task periodic.Task
		want string // times of the next ten minutes
	}{
		{"not planned yet", task("a", "*:0/5", nil), "12:05:00 12:10:00"},
		{"planned", task("a", "*:0/5", planned("12:05:00")), "12:05:00 12:10:00"},
		{"planned with the jitter of before", task("a", "*:0/5", func(t *periodic.Task) {
			t.Due, t.NextRun = clock("12:05:00"), clock("12:05:07")
		}), "12:05:07 12:10:00"},
		{"due", task("a", "*:0/5", planned("12:00:00")), "12:00:00 12:05:00 12:10:00"},
		{"long due", task("a", "*:0/5", planned("11:00:00")), "12:00:00 12:05:00 12:10:00"},
		{"long due, all", task("a", "*:0/5", func(t *periodic.Task) {
			planned("11:50:00")(t)
			t.Catchup = periodic.CatchupAll
		}), "11:50:00 11:55:00 12:00:00 12:05:00 12:10:00"},
		{"set by hand", task("a", "*:0/5", func(t *periodic.Task) { t.NextRun = clock("12:03:00") }), "12:03:00 12:05:00 12:10:00"},
		{"disabled", task("a", "*:0/5", func(t *periodic.Task) { t.Enabled = false }), ""},
		{"paused for a while", task("a", "*:0/5", paused(clock("12:07:00"))), "12:10:00"},
		{"paused", task("a", "*:0/5", paused(time.Time{})), ""},
		{"paused, to be run by hand", task("a", "*:0/5", func(t *periodic.Task) {
			paused(time.Time{})(t)
			t.NextRun = clock("12:03:00")
		}), "12:03:00"},
		{"bad timer", task("a", "nonsense", nil), ""},
		{"never again", task("a", "*:0/5", func(t *periodic.Task) { t.Due, t.NextRun = periodic.Never, periodic.Never }), ""},
		{"bounds", task("a", "*:0/2", func(t *periodic.Task) { t.Starts, t.Ends = clock("12:04:00"), clock("12:08:00") }), "12:04:00 12:06:00"},
		{"interval from creation", task("a", "every 4m", nil), "12:04:00 12:08:00"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for tick := range periodic.Preview([]periodic.Task{test.task}, now, now.Add(10*time.Minute)) {
				got = append(got, tick.NextRun.Format(time.TimeOnly))
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("got  %s\nwant %s", text, test.want)
			}
		})
	}
}
