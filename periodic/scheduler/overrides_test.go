package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// lateDay is a day that is to come by the clock of the database, which triggers ask, and to which the tests pass the time.
var lateDay = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// lines are the ticks of a task, by their hours.
func (f *fixture) lines(id string) string {
	f.Helper()
	return f.one(`SELECT group_concat(line, ', ') FROM (SELECT substr(due, 12, 5) || ' ' || decision || coalesce(' of ' || substr(nominal, 12, 5), '') AS line
		FROM periodic_tick WHERE task_id = ? ORDER BY due)`, id)
}

// A tick that somebody skips is recorded with the reason, one that somebody moves with both its times.
func TestSkippedAndMovedTicksAreRecorded(t *testing.T) {
	bubble(t, func(f *fixture) {
		sleepUntil(lateDay)
		tasks := periodic.NewTasks(f.db.Tasks())
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('t', 'x', 'hourly', 'allow')")
		stop := f.run(unwatched{f.db.Periodic()}, rarely)
		pass(time.Second)
		o, err := tasks.Skip(f.Context(), "t", days.Override{Who: "ann", Reason: "server moves"})
		if err != nil || !o.Due.Equal(lateDay.Add(time.Hour)) {
			f.Fatalf("Skip: %+v, %v", o, err)
		}
		// Half past three is in front of the tick of four, and the tick of six meets that of seven.
		for due, to := range map[time.Duration]time.Duration{4 * time.Hour: 210 * time.Minute, 6 * time.Hour: 7 * time.Hour, 9 * time.Hour: 8*time.Hour + time.Minute} {
			if _, err := tasks.Move(f.Context(), "t", days.Override{Due: lateDay.Add(due), To: lateDay.Add(to), Who: "bo"}); err != nil {
				f.Fatal(err)
			}
		}
		o, err = tasks.Unskip(f.Context(), "t", lateDay.Add(8*time.Hour+time.Minute))
		if err != nil || !o.Due.Equal(lateDay.Add(9*time.Hour)) {
			f.Fatalf("Unskip: %+v, %v", o, err)
		}
		stop()
		stop = f.run(unwatched{f.db.Periodic()}, rarely) // nobody wakes the first one here
		sleepUntil(lateDay.Add(9*time.Hour + time.Second))
		stop()
		f.want("01:00 skipped, 02:00 submitted, 03:00 submitted, 03:30 submitted of 04:00, 05:00 submitted, 06:00 skipped, 07:00 submitted, 08:00 submitted, 09:00 submitted", "SELECT '"+f.lines("t")+"'")
		f.want("left out by ann: server moves", "SELECT reason FROM periodic_tick WHERE due LIKE '%01:00:00%'")
		f.want("moved by bo from 2100-01-01 04:00:00 UTC", "SELECT reason FROM periodic_tick WHERE due LIKE '%03:30:00%'")
		f.want("left out by bo; it counts once with the tick of 2100-01-01 07:00:00 UTC", "SELECT reason FROM periodic_tick WHERE due LIKE '%06:00:00%'")
		f.want(0, "SELECT count(*) FROM periodic_stale")
		f.guarantees()
	})
}

// A tick that moves to a time that nobody planned before it passed is not lost: it is left out, with a record.
func TestMovePassesUnplanned(t *testing.T) {
	bubble(t, func(f *fixture) {
		sleepUntil(lateDay)
		f.exec("INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'x', '05:00')")
		o := days.Override{Due: lateDay.Add(5 * time.Hour), To: lateDay.Add(2 * time.Hour)}
		if _, err := periodic.NewTasks(f.db.Tasks()).Move(f.Context(), "t", o); err != nil {
			f.Fatal(err)
		}
		sleepUntil(lateDay.Add(3 * time.Hour))
		stop := f.run(unwatched{f.db.Periodic()}, rarely)
		sleepUntil(lateDay.Add(6 * time.Hour))
		stop()
		f.want("05:00 skipped", "SELECT '"+f.lines("t")+"'")
		f.want("left out by hand; moved to 2100-01-01 02:00:00 UTC", "SELECT reason FROM periodic_tick")
		f.guarantees()
	})
}

// A skip and a move take effect at once, on what is prepared, too.
func TestOverridesReplan(t *testing.T) {
	both(t, func(f *fixture) {
		for i := range 50 {
			f.exec("INSERT INTO periodic_task (id, task, timer) VALUES (?, 'x', 'yearly')", fmt.Sprint("t", i))
		}
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
		due := time.Now().UTC().Add(4 * time.Second).Truncate(time.Microsecond)
		f.exec("UPDATE periodic_task SET timer = ?", "*-*-* "+due.Format("15:04:05.000000"))
		f.becomes(50, "SELECT count(*) FROM periodic_task WHERE due = ?", due.Format("2006-01-02 15:04:05.000000"))
		for prepared := 0; prepared < 50; {
			prepared += len(<-claimed)
		}
		f.exec("INSERT INTO periodic_override (task_id, due, who) SELECT id, due, 'ann' FROM periodic_task WHERE id < 't3'")
		f.exec("INSERT INTO periodic_override (task_id, due, moved_to) SELECT id, due, '2099-01-01 00:00:00' FROM periodic_task WHERE id >= 't3'")
		f.becomes(23, "SELECT count(*) FROM periodic_tick WHERE decision = 'skipped' AND reason = 'left out by ann'")
		f.becomes(27, "SELECT count(*) FROM periodic_task WHERE id >= 't3' AND due > ?", due.Add(time.Hour).Format("2006-01-02 15:04:05.000000"))
		f.want(23, "SELECT count(*) FROM periodic_tick")
		f.want(0, "SELECT count(*) FROM job")
	})
}

// What people decide about a tick that is past or was never there is refused, by SQL and by Go.
func TestOverridesOfNoTickAreRefused(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_calendar (name, first_day) VALUES ('c', '2099-12-24')")
		f.exec("INSERT INTO periodic_task (id, task, timer, exclude_calendars, starts) VALUES ('t', 'x', '08:00', 'c', '2090-01-01 00:00:00')")
		f.once()
		tasks, at := periodic.NewTasks(f.db.Tasks()), func(text string) time.Time {
			at, err := time.Parse("2006-01-02 15:04", text)
			if err != nil {
				f.Fatal(err)
			}
			return at
		}
		for want, o := range map[string]days.Override{
			"the task has no tick at 2099-12-23 09:00:00 UTC; its next one is that of 2099-12-24 08:00:00 UTC": {Due: at("2099-12-23 09:00")},
			"the tick of 2099-12-24 08:00:00 UTC does not take place: calendar c":                              {Due: at("2099-12-24 08:00")},
			"the tick of 2001-01-01 08:00:00 UTC is in the past, or decided already":                           {Due: at("2001-01-01 08:00")},
			"moved_to: it is 2001-01-01 08:00:00 UTC; use a time from now on":                                  {Due: at("2099-12-23 08:00"), To: at("2001-01-01 08:00")},
			"the tick takes place at 2099-12-23 08:00:00 UTC anyway":                                           {Due: at("2099-12-23 08:00"), To: at("2099-12-23 08:00")},
			"reason: has 255 characters": {Reason: strings.Repeat("x", 255)},
		} {
			do := tasks.Skip
			if !o.To.IsZero() {
				do = tasks.Move
			}
			var bad *periodic.TaskError
			if _, err := do(f.Context(), "t", o); err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &bad) {
				f.Errorf("%v, want %q", err, want)
			}
		}
		if _, err := tasks.Skip(f.Context(), "nobody", days.Override{}); !errors.Is(err, store.ErrNotFound) {
			f.Error(err)
		}
		if _, err := tasks.Unskip(f.Context(), "t", time.Time{}); err == nil || !strings.Contains(err.Error(), "no tick to come is skipped or moved") {
			f.Error(err)
		}
		for query, want := range map[string]string{
			"INSERT INTO periodic_override (task_id, due) VALUES ('nobody', '2099-12-23 08:00:00')":                                 "no such task|there is no task nobody",
			"INSERT INTO periodic_override (task_id, due) VALUES ('t', '2001-01-01 08:00:00')":                                      "is in the past, or decided already; name one to come",
			"INSERT INTO periodic_override (task_id, due, moved_to) VALUES ('t', '2099-12-23 08:00:00', '2099-12-23 08:00:00.000')": "nextrun_override_moves",
		} {
			err := f.try(query)
			one, other, _ := strings.Cut(want, "|")
			if err == nil || !strings.Contains(err.Error(), one) && (other == "" || !strings.Contains(err.Error(), other)) {
				f.Errorf("%s: %v", query, err)
			}
		}
		f.want(0, "SELECT count(*) FROM periodic_override")
		// By SQL a tick may be named that is not there, and a time that has passed.
		f.exec("INSERT INTO periodic_override (task_id, due) VALUES ('t', '2099-12-23 09:00:00')")
		f.exec("INSERT INTO periodic_override (task_id, due, moved_to, who) VALUES ('t', '2099-12-23 08:00:00', '2001-01-01 00:00:00', 'ann')")
		task, err := tasks.Get(f.Context(), "t")
		if err != nil {
			f.Fatal(err)
		}
		var effects []string
		for _, e := range task.Overridden(time.Now()) {
			effects = append(effects, e.Text)
		}
		if got := strings.Join(effects, " | "); got != "left out by ann; it was to move to a time that had passed, 2001-01-01 00:00:00 UTC | no effect: no tick at that time" {
			f.Error(got)
		}
	})
}

// A tick that somebody has moved can be moved again, or skipped, by its new time; whoever deletes the task deletes what was
// decided about its ticks.
func TestOverridesFollowTheTask(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, starts) VALUES ('t', 'x', '08:00', '2090-01-01 00:00:00')")
		tasks := periodic.NewTasks(f.db.Tasks())
		move := func(due, to string) {
			f.Helper()
			o := days.Override{}
			o.Due, _ = time.Parse(time.RFC3339, due)
			o.To, _ = time.Parse(time.RFC3339, to)
			if _, err := tasks.Move(f.Context(), "t", o); err != nil {
				f.Error(err)
			}
		}
		const planned = "SELECT substr(CAST(due AS varchar(30)), 1, 19) FROM periodic_task"
		for _, step := range []struct {
			do   func()
			want string
		}{
			{func() { move("2090-01-01T08:00:00Z", "2090-01-05T07:00:00Z") }, "2090-01-02 08:00:00"},
			{func() { move("2090-01-05T07:00:00Z", "2089-01-01T07:00:00Z") }, "2089-01-01 07:00:00"},
			{func() { f.exec("UPDATE periodic_override SET moved_to = NULL") }, "2090-01-01 08:00:00"},
			{func() { f.exec("UPDATE periodic_override SET moved_to = '2089-02-02 02:02:02'") }, "2089-02-02 02:02:02"},
			{func() { f.exec("UPDATE periodic_task SET timer = '09:00'") }, "2090-01-01 09:00:00"},
			{func() { f.exec("UPDATE periodic_task SET timer = '08:00'") }, "2089-02-02 02:02:02"},
			{func() { f.exec("DELETE FROM periodic_override") }, "2090-01-01 08:00:00"},
		} {
			step.do()
			f.once()
			f.want(step.want, planned)
		}
		move("2090-01-03T08:00:00Z", "2090-01-03T09:00:00Z")
		f.want(1, "SELECT count(*) FROM periodic_override")
		f.exec("DELETE FROM periodic_task")
		f.want(0, "SELECT count(*) FROM periodic_override")
	})
}

// Whoever runs a task by hand, or fills up its past, does not ask what was skipped.
func TestRunNowAndBackfillDoNotAskOverrides(t *testing.T) {
	bubble(t, func(f *fixture) {
		sleepUntil(lateDay)
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('t', 'x', 'hourly', 'allow')")
		tasks := periodic.NewTasks(f.db.Tasks())
		if _, err := tasks.Skip(f.Context(), "t", days.Override{}); err != nil {
			f.Fatal(err)
		}
		if _, err := tasks.Move(f.Context(), "t", days.Override{Due: lateDay.Add(2 * time.Hour), To: lateDay.Add(150 * time.Minute)}); err != nil {
			f.Fatal(err)
		}
		if err := tasks.RunNow(f.Context(), "t"); err != nil {
			f.Fatal(err)
		}
		stop := f.run(unwatched{f.db.Periodic()}, rarely)
		pass(time.Second)
		f.want(1, "SELECT count(*) FROM job")
		sleepUntil(lateDay.Add(140 * time.Minute))
		stop()
		f.want("left out by hand", "SELECT reason FROM periodic_tick WHERE decision = 'skipped'")
		if err := tasks.Backfill(f.Context(), "t", periodic.Backfill{From: lateDay.Add(time.Minute), To: lateDay.Add(130 * time.Minute)}); err != nil {
			f.Fatal(err)
		}
		f.want(3, "SELECT count(*) FROM job")
	})
}
