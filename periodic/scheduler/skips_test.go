package scheduler_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
	"github.com/nextrun/nextrun/store"
)

// lateDay is a day that is to come by the clock of the database, which triggers ask, and to which the tests pass the time.
var lateDay = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// lines are the ticks of a task, by their hours.
func (f *fixture) lines(id string) string {
	f.Helper()
	return f.one(`SELECT group_concat(line, ', ') FROM (SELECT substr(due, 12, 5) || ' ' || decision AS line
		FROM periodic_tick WHERE task_id = ? AND decided IS NOT NULL ORDER BY due)`, id)
}

// A tick that somebody skips is recorded with the reason when it is due, and not before.
func TestSkippedTicksAreRecorded(t *testing.T) {
	bubble(t, func(f *fixture) {
		sleepUntil(lateDay)
		tasks := periodic.NewTasks(f.db.Tasks())
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap, since) VALUES ('t', 'x', 'hourly', 'allow', ?)", utc(lateDay))
		s, _ := f.start(unwatched{f.db.Periodic()})
		pass(time.Second)
		due, err := tasks.Skip(f.Context(), "t", time.Time{}, days.Note("ann", "server moves"))
		if err != nil || !due.Equal(lateDay.Add(time.Hour)) {
			f.Fatalf("Skip: %s, %v", due, err)
		}
		f.exec("INSERT INTO periodic_tick (task_id, due, decision, reason) VALUES ('t', '2100-01-01 03:00', 'skipped', 'inventory'), ('t', '2100-01-01 04:00:00', 'skipped', NULL)")
		if _, err = tasks.Skip(f.Context(), "t", lateDay.Add(5*time.Hour), ""); err != nil {
			f.Fatal(err)
		}
		if due, err = tasks.Unskip(f.Context(), "t", lateDay.Add(5*time.Hour)); err != nil || !due.Equal(lateDay.Add(5*time.Hour)) {
			f.Fatalf("Unskip: %s, %v", due, err)
		}
		if ticks, err := tasks.Ticks(f.Context(), periodic.TickFilter{TaskID: "t"}); err != nil || len(ticks) > 0 {
			f.Errorf("ticks before they are due: %v, %v", ticks, err)
		}
		sleepUntil(lateDay.Add(5*time.Hour + time.Second))
		f.stop(s)
		f.want("01:00 skipped, 02:00 submitted, 03:00 skipped, 04:00 skipped, 05:00 submitted", "SELECT '"+f.lines("t")+"'")
		for hour, want := range map[int]string{1: "ann: server moves", 3: "inventory", 4: ""} {
			f.want(want, fmt.Sprintf("SELECT coalesce(reason, '') FROM periodic_tick WHERE cause = 'person' AND due LIKE '%%0%d:00:00%%'", hour))
		}
		f.want(0, "SELECT count(*) FROM periodic_stale")
		f.guarantees()
	})
}

// Ticks that fell due while no scheduler ran are skipped with their own reason, each in a record of its own.
func TestSkipsInAnOutage(t *testing.T) {
	for catchup, want := range map[periodic.Catchup]string{
		periodic.CatchupOne: "00:00 missed, 02:00 skipped, 03:00 skipped, 04:00 missed, 05:00 submitted, 06:00 skipped",
		periodic.CatchupAll: "00:00 submitted, 01:00 submitted, 02:00 skipped, 03:00 skipped, 04:00 submitted, 05:00 submitted, 06:00 skipped",
	} {
		t.Run(string(catchup), func(t *testing.T) {
			bubble(t, func(f *fixture) {
				sleepUntil(lateDay.Add(-time.Minute))
				f.exec("INSERT INTO periodic_task (id, task, timer, overlap, catchup, since) VALUES ('t', 'x', 'hourly', 'allow', ?, ?)", string(catchup), utc(lateDay.Add(-time.Minute)))
				f.once()
				f.exec("INSERT INTO periodic_tick (task_id, due, decision) VALUES ('t', '2100-01-01 02:00:00', 'skipped'), ('t', '2100-01-01 03:00:00', 'skipped'), ('t', '2100-01-01 06:00:00', 'skipped')")
				sleepUntil(lateDay.Add(6*time.Hour + 30*time.Minute))
				f.once()
				f.want(want, "SELECT '"+f.lines("t")+"'")
				f.want(0, "SELECT count(*) FROM periodic_tick WHERE decided IS NULL")
				f.guarantees()
			})
		})
	}
}

// A skip of a tick that is past or was never there is refused by Go; SQL refuses those that are past.
func TestSkipsOfNoTickAreRefused(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_calendar (name, first_day) VALUES ('c', '2099-12-24')")
		f.exec("INSERT INTO periodic_task (id, task, timer, exclude_calendars, starts) VALUES ('t', 'x', '08:00', 'c', '2090-01-01 00:00:00')")
		f.once()
		tasks, at := periodic.NewTasks(f.db.Tasks()), func(text string) (at time.Time) {
			if at, _ = time.Parse("2006-01-02 15:04", text); at.IsZero() && text != "" {
				f.Fatal(text)
			}
			return at
		}
		for want, skip := range map[string]days.LeftOut{
			"the tick of 2001-01-01 08:00:00 UTC is in the past, or decided already": {Due: at("2001-01-01 08:00")},
			"reason: has 255 characters": {Reason: strings.Repeat("x", 255)},
		} {
			var bad *periodic.TaskError
			if _, err := tasks.Skip(f.Context(), "t", skip.Due, skip.Reason); err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &bad) {
				f.Errorf("%v, want %q", err, want)
			}
		}
		if _, err := tasks.Skip(f.Context(), "nobody", time.Time{}, ""); !errors.Is(err, store.ErrNotFound) {
			f.Error(err)
		}
		if _, err := tasks.Unskip(f.Context(), "t", time.Time{}); err == nil || !strings.Contains(err.Error(), "no tick to come is skipped") {
			f.Error(err)
		}
		for query, want := range map[string]string{
			"INSERT INTO periodic_tick (task_id, due, decision) VALUES ('nobody', '2099-12-23 08:00:00', 'skipped')": "there is no such task",
			"INSERT INTO periodic_tick (task_id, due, decision) VALUES ('t', '2001-01-01 08:00:00', 'skipped')":      "is in the past",
			"INSERT INTO periodic_tick (task_id, due, decision) VALUES ('t', '2099-12-23 08:00:00', 'submitted')":    "nextrun_tick_ahead",
		} {
			if err := f.try(query); err == nil || !strings.Contains(err.Error(), want) {
				f.Errorf("%s: %v, want %q", query, err, want)
			}
		}
		f.want(0, "SELECT count(*) FROM periodic_tick")
	})
}

// What makes skips pointless deletes them: another timer all, a run set by hand those up to it, and the end of the task.
func TestSkipsFollowTheTask(t *testing.T) {
	both(t, func(f *fixture) {
		const left = "SELECT count(*) FROM periodic_tick WHERE decided IS NULL"
		for _, step := range []struct {
			edit string
			left int
		}{
			{"UPDATE periodic_task SET priority = 7, enabled = false", 3},
			{"UPDATE periodic_task SET nextrun = '2090-01-02 08:00:00'", 1},
			{"UPDATE periodic_task SET timer = '09:00'", 0},
			{"DELETE FROM periodic_task", 0},
		} {
			f.exec("DELETE FROM periodic_tick")
			f.exec("DELETE FROM periodic_task")
			f.exec("INSERT INTO periodic_task (id, task, timer, starts) VALUES ('t', 'x', '08:00', '2090-01-01 00:00:00')")
			f.exec("INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('t', '2026-01-01 08:00:00.000000', 'skipped', '2026-01-01 08:00:00.000000')")
			f.exec("INSERT INTO periodic_tick (task_id, due, decision) VALUES ('t', '2090-01-01 08:00:00', 'skipped'), ('t', '2090-01-02 08:00:00', 'skipped'), ('t', '2090-01-03 08:00:00', 'skipped')")
			f.exec(step.edit)
			f.want(step.left, left)
			f.want(1, "SELECT count(*) FROM periodic_tick WHERE decided IS NOT NULL")
		}
	})
}

// Whoever runs a task by hand, or fills up its past, does not ask what was skipped.
func TestRunNowAndBackfillDoNotAskSkips(t *testing.T) {
	bubble(t, func(f *fixture) {
		sleepUntil(lateDay)
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('t', 'x', 'hourly', 'allow')")
		tasks := periodic.NewTasks(f.db.Tasks())
		if _, err := tasks.Skip(f.Context(), "t", time.Time{}, ""); err != nil {
			f.Fatal(err)
		}
		f.done(tasks.RunNow(f.Context(), "t"))
		s, _ := f.start(unwatched{f.db.Periodic()})
		pass(time.Second)
		f.want(1, "SELECT count(*) FROM job")
		sleepUntil(lateDay.Add(140 * time.Minute))
		f.stop(s)
		f.want("person", "SELECT cause FROM periodic_tick WHERE decision = 'skipped'")
		f.done(tasks.Backfill(f.Context(), "t", periodic.Backfill{From: lateDay.Add(time.Minute), To: lateDay.Add(130 * time.Minute)}))
		f.want(3, "SELECT count(*) FROM job")
	})
}

// pauseBySQL is how somebody pauses a task who knows the table only.
const pauseBySQL = "UPDATE periodic_task SET paused = CURRENT_TIMESTAMP, paused_by = 'ada', paused_reason = 'moving' WHERE id = ?"

// What falls due during a pause is skipped and says why, the plan goes on, and the
// next tick after the pause runs.
func TestPausedTicksAreSkipped(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.once()
		planned := f.one("SELECT nextrun FROM periodic_task")
		f.exec(pauseBySQL, "report")
		f.want(planned, "SELECT nextrun FROM periodic_task")
		f.due("report", time.Second)
		f.once()
		f.want(0, "SELECT count(*) FROM job")
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE decision = 'skipped' AND cause = 'paused' AND reason = 'ada: moving'")
		f.want(1, "SELECT count(*) FROM periodic_task WHERE nextrun > ?", f.at(0))
		f.exec("UPDATE periodic_task SET paused = NULL")
		f.due("report", time.Second)
		f.once()
		f.want(1, "SELECT count(*) FROM job")
		f.guarantees()
	})
}

// Run-now runs a paused task, unless a job is in the way. The timer goes on and stays paused.
func TestRunNowRunsAPausedTask(t *testing.T) {
	both(t, func(f *fixture) {
		f.held("queue")
		f.exec("UPDATE periodic_task SET paused = ?", f.at(0))
		tasks, pending := periodic.NewTasks(f.db.Tasks()), new(periodic.PendingError)
		if err := tasks.RunNow(f.Context(), "report"); !errors.As(err, &pending) {
			f.Fatalf("run beside a job: %v", err)
		}
		f.exec("UPDATE job SET state = 'success'")
		f.done(tasks.RunNow(f.Context(), "report"))
		f.want(2, "SELECT count(*) FROM job")
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE decision = 'submitted' AND cause = 'by_hand'")
		f.want(1, "SELECT count(*) FROM periodic_task WHERE paused IS NOT NULL")
		f.guarantees()
	})
}

// Somebody who resumes a task by `paused` alone leaves nothing of the pause, and a new
// pause does not end when an earlier one did.
func TestPausesBySQLBeginAndEndCleanly(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		const all = "SELECT coalesce(CAST(paused_until AS varchar(30)), '') || coalesce(paused_by, '') || coalesce(paused_reason, '') FROM periodic_task"
		f.exec(pauseBySQL, "report")
		f.exec("UPDATE periodic_task SET paused_until = '2199-01-01 00:00:00'")
		f.exec("UPDATE periodic_task SET paused = NULL")
		f.want("", all)

		f.exec("UPDATE periodic_task SET paused = '2026-01-01 00:00', paused_until = '2026-01-02 00:00', paused_by = 'ada'")
		f.exec("UPDATE periodic_task SET paused = ?, paused_by = 'bob'", f.at(0))
		f.want("bob", all)
		f.exec("UPDATE periodic_task SET paused_until = ?", f.at(-time.Second)) // one that ends a pause stays
		f.want(1, "SELECT count(*) FROM periodic_task WHERE paused_until < paused")
	})
}
