package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/finish"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
)

func (h *endHooks) HearsFinish(t *periodic.Task, s finish.State) bool {
	return t.Task == t.ID && (s == finish.AtRisk || s == finish.Late)
}

func (h *endHooks) TellFinishes(_ context.Context, _ jobqueue.DBTX, _ time.Time, ticks []taskdb.Finish) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range ticks {
		h.told = append(h.told, fmt.Sprintf("%s %s: %s", f.Task.ID, f.State, f.Why))
	}
	return nil
}

// promised is a task whose ticks have to finish within an hour, and with one that was due a while ago. So many of its
// jobs have succeeded before, each in 20 minutes.
func (f *fixture) promised(id string, ago time.Duration, runs int) (due time.Time) {
	f.Helper()
	f.exec("INSERT INTO periodic_task (id, task, timer, finish_by) VALUES (?, ?, 'yearly', '1h')", id, id)
	for n := range runs {
		at := fmt.Sprintf("2026-01-%02d 00:00:00.000000", n+1)
		f.exec("INSERT INTO job (jid, task, tracker, state, submitted, started, finished, due) VALUES (?, ?, ?, 'success', ?, ?, ?, ?)",
			fmt.Sprint(id, n), id, id, at, at, strings.Replace(at, "00:00:00", "00:20:00", 1), at)
		f.exec("INSERT INTO periodic_tick (task_id, due, decision, jid, decided) VALUES (?, ?, 'submitted', ?, ?)", id, at, fmt.Sprint(id, n), at)
	}
	due = f.due(id, ago)
	f.once()
	f.want(due.Add(time.Hour).UTC().Format("2006-01-02 15:04:05"), "SELECT substr(CAST(finish_by AS text), 1, 19) FROM periodic_tick WHERE task_id = ? AND due = ?", id, utc(due))
	return due
}

// judges has the open ticks judged now, whatever was planned.
func (f *fixture) judges(hooks *endHooks) {
	f.Helper()
	f.exec("UPDATE periodic_tick SET finish_look = ? WHERE finish_look IS NOT NULL", f.at(-time.Second))
	if _, _, err := f.db.Periodic().Finishes(f.Context(), hooks); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) told(hooks *endHooks, want ...string) {
	f.Helper()
	slices.Sort(hooks.told)
	ok := len(hooks.told) == len(want)
	for i := range want {
		ok = ok && strings.HasPrefix(hooks.told[i], want[i])
	}
	if !ok {
		f.Errorf("told %q, want %q", hooks.told, want)
	}
	hooks.told = nil
}

const (
	finishOf  = "SELECT coalesce(finish, 'open') FROM periodic_tick WHERE task_id = ? AND finish_by IS NOT NULL"
	finishNow = "SELECT finish || CASE WHEN at_risk THEN ', at risk' ELSE '' END || coalesce(': ' || why, '') FROM periodic_finish WHERE task_id = ?"
)

// A job that has not begun, and usually takes longer than is left, is at risk. It is late when its time has come. Hooks hear
// of each once. One that has its usual time left is not at risk.
func TestWhatWillNotFinishInTimeIsTold(t *testing.T) {
	both(t, func(f *fixture) {
		hooks := &endHooks{}
		f.promised("waits", 45*time.Minute, 5)
		f.promised("has-time", 30*time.Minute, 5)
		f.promised("unknown", 45*time.Minute, 4) // too few successes for a prediction
		f.judges(hooks)
		f.judges(hooks)
		f.told(hooks) // once has told nobody, but recorded it
		f.want("at risk", finishOf, "waits")
		f.want("open", finishOf, "has-time")
		f.want("open", finishOf, "unknown")
		if why := f.one(finishNow, "waits"); !strings.HasPrefix(why, "open, at risk: its job has waited in the queue since ") || !strings.HasSuffix(why, "; it usually takes 20 min") {
			t.Error(why)
		}
		f.want("open: its job waits in the queue", finishNow, "has-time")
		f.exec("UPDATE periodic_tick SET finish_by = ? WHERE finish_by IS NOT NULL", f.at(10*time.Minute))
		f.judges(hooks)
		f.told(hooks, "has-time at risk: its job has waited")
		f.exec("UPDATE periodic_tick SET finish_by = ? WHERE finish_by IS NOT NULL", f.at(-time.Second))
		f.judges(hooks)
		f.judges(hooks)
		f.told(hooks, "has-time late: its job has waited", "unknown late: its job has waited", "waits late: its job has waited")
		f.want(3, "SELECT count(*) FROM periodic_tick WHERE finish = 'late' AND finish_look > ?", f.at(0)) // its end is still to be seen
		f.exec("UPDATE job SET state = 'success', finished = ? WHERE state = 'waiting'", f.at(0))
		f.judges(hooks)
		f.told(hooks)
		f.want(3, "SELECT count(*) FROM periodic_tick WHERE finish = 'late' AND finish_look IS NULL AND finish_ended IS NOT NULL")
		f.want(3, "SELECT count(*) FROM periodic_finish WHERE finish = 'late' AND ended > finish_by")
		f.guarantees()
	})
}

// What runs is expected to end after its usual time. If it takes longer, it is expected to take as long again.
func TestWhatRunsIsExpectedToEnd(t *testing.T) {
	both(t, func(f *fixture) {
		hooks := &endHooks{}
		for id, started := range map[string]time.Duration{"in-time": -25 * time.Minute, "too-late": -time.Minute, "too-long": -30 * time.Minute} {
			f.promised(id, 35*time.Minute, 7)
			f.exec("UPDATE job SET state = 'running', started = ? WHERE tracker = ? AND state = 'waiting'", f.at(started), id)
		}
		f.exec("UPDATE periodic_tick SET finish_by = ? WHERE task_id <> 'in-time' AND finish_by IS NOT NULL", f.at(15*time.Minute))
		f.judges(hooks)
		f.told(hooks, "too-late at risk: its job has run since ", "too-long at risk: its job has run since ")
		f.want("open", finishOf, "in-time")
		f.exec("UPDATE job SET state = 'success', finished = ? WHERE state = 'running'", f.at(0))
		f.want(3, "SELECT count(*) FROM periodic_finish WHERE finish = 'kept' AND why IS NULL AND NOT at_risk")
		f.judges(hooks)
		f.told(hooks)
		f.want(3, "SELECT count(*) FROM periodic_tick WHERE finish = 'kept' AND finish_look IS NULL")
		f.exec("DELETE FROM job") // the records stay
		f.want(3, "SELECT count(*) FROM periodic_finish WHERE finish = 'kept' AND ended IS NOT NULL")
	})
}

// What got no job, and what failed, is at risk at once. A job that is tried again and succeeds in time keeps the tick, and
// one that does so later does not.
func TestWhatFailedCanStillFinishInTime(t *testing.T) {
	both(t, func(f *fixture) {
		hooks := &endHooks{}
		f.promised("again", time.Second, 0)
		f.promised("never", time.Second, 0)
		f.promised("skipped", time.Minute, 0)
		f.exec("UPDATE job SET state = 'failed', finished = ?, result = 'no space' WHERE tracker IN ('again', 'never')", f.at(0))
		f.due("skipped", time.Second)
		f.once()
		f.exec("UPDATE periodic_tick SET finish = NULL") // as if nobody had looked
		f.judges(hooks)
		f.told(hooks, "again at risk: its job failed at ", "never at risk: its job failed at ", "skipped at risk: it was skipped: the job of ")
		f.exec("UPDATE job SET state = 'success', finished = ? WHERE tracker = 'again'", f.at(0))
		f.want("kept", finishNow, "again")
		f.judges(hooks)
		f.want("kept", finishOf, "again")
		f.exec("UPDATE periodic_tick SET finish_by = ? WHERE finish_by IS NOT NULL AND task_id = 'never'", f.at(-time.Second))
		f.judges(hooks)
		f.told(hooks, "never late: its job failed at ")
		f.exec("UPDATE job SET state = 'success', finished = ? WHERE tracker = 'never'", f.at(0))
		f.judges(hooks)
		f.want("late", finishOf, "never")
		f.want(1, "SELECT count(*) FROM periodic_finish WHERE task_id = 'never' AND finish = 'late' AND ended > finish_by")
	})
}

// Nobody expects that what people and calendars leave out finishes, or what somebody makes up for.
func TestWhatIsLeftOutNeedNotFinish(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, finish_by, paused) VALUES ('paused', 'x', 'yearly', '1h', '2026-01-01 00:00:00.000000')")
		f.exec("INSERT INTO periodic_task (id, task, timer, finish_by) VALUES ('past', 'x', '*-01-02 03:00', '1h')")
		f.due("paused", time.Second)
		f.once()
		if err := periodic.NewTasks(f.db.Tasks()).Backfill(f.Context(), "past", periodic.Backfill{From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}); err != nil {
			t.Fatal(err)
		}
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE task_id = 'paused' AND decision = 'skipped'")
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE task_id = 'past' AND decision = 'submitted'")
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE finish_by IS NOT NULL")
	})
}

// A value that cannot be read is a warning of the row, and the task goes on without it. A good one takes the warning away.
func TestAFinishByThatCannotBeRead(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, finish_by) VALUES ('bad', 'x', 'yearly', 'soon'), ('good', 'x', 'yearly', '06:30')")
		f.exec("INSERT INTO periodic_task (id, task, timer, finish_by, sink) VALUES ('event', 'x', 'yearly', '06:30', 'event')")
		const problem = "SELECT coalesce(problem, '') FROM periodic_task WHERE id = ?"
		f.once()
		f.want(`warning: finish_by "soon" is neither a duration after the tick's due, such as 2h or 1h30m, nor a time of day, such as 06:30`, problem, "bad")
		f.want("", problem, "good")
		f.want("warning: finish_by has no effect: events do not tell how their handling ends; use none", problem, "event")
		planned := f.one("SELECT nextrun FROM periodic_task WHERE id = 'good'")
		f.exec("UPDATE periodic_task SET finish_by = '2h' WHERE id = 'bad'")
		f.exec("UPDATE periodic_task SET finish_by = '24:00' WHERE id = 'good'")
		f.once()
		f.want("", problem, "bad")
		f.want(`warning: finish_by "24:00" is no time of day; use 00:00 to 23:59, or a duration after the tick's due such as 2h`, problem, "good")
		f.want(planned, "SELECT nextrun FROM periodic_task WHERE id = 'good'")
		f.due("bad", time.Second)
		f.once()
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE task_id = 'bad' AND finish_by IS NOT NULL")
	})
}

// What is expected of a job in another queue counts from its submission.
func TestJobsOfOtherQueuesFinishInTimeOrNot(t *testing.T) {
	both(t, func(f *fixture) {
		q := &acmeTeller{acme: f.acme(), gone: sink.EndUnknown}
		hooks := &endHooks{}
		f.submitted(q, "success", "failed", "busy")
		for n := range 5 {
			at := fmt.Sprintf("2026-01-%02d 00:00:00.000000", n+1)
			f.exec("INSERT INTO periodic_tick (task_id, due, decision, jid, decided, outcome, finished) VALUES ('busy', ?, 'submitted', ?, ?, 'success', ?)",
				at, fmt.Sprint("busy", n), at, strings.Replace(at, "00:00:00", "00:20:00", 1))
		}
		f.exec("UPDATE periodic_tick SET finish_by = ?, finish_look = decided WHERE outcome IS NULL", f.at(10*time.Minute))
		f.exec("UPDATE acme_job SET state = tracker")
		f.asks(q, nil)
		f.judges(hooks)
		f.told(hooks, "busy at risk: its job, submitted at ", "failed at risk: its job failed at ")
		f.want("kept", finishOf, "success")
		f.exec("UPDATE acme_job SET state = 'success'")
		f.exec("UPDATE periodic_awaited SET look = '2026-01-01 00:00:00.000000'")
		f.asks(q, nil)
		f.want("kept", finishNow, "busy")
		f.exec("UPDATE periodic_tick SET outcome = NULL, finish = NULL, finish_look = decided WHERE task_id = 'success'") // a queue that tells nothing
		f.judges(hooks)
		f.want("unknown: nobody knows how its job ended: its queue does not tell, or the job was deleted", finishNow, "success")
	})
}

// Four schedulers look at the same time. One of them tells what is found.
func TestSeveralSchedulersTellOnceThatATickIsLate(t *testing.T) {
	both(t, func(f *fixture) {
		hooks := &endHooks{}
		for n := range 20 {
			f.promised(fmt.Sprint("late-", n), 2*time.Hour, 0)
		}
		f.exec("UPDATE periodic_tick SET finish = NULL, finish_look = decided")
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 3 {
					_, _, _ = f.db.Periodic().Finishes(f.Context(), hooks)
				}
			})
		}
		all.Wait()
		if slices.Sort(hooks.told); len(hooks.told) != 20 || len(slices.Compact(hooks.told)) != 20 {
			t.Errorf("told %d: %q", len(hooks.told), hooks.told)
		}
	})
}

// Somebody has locked the row of a tick: the others are judged, and it is looked at a few times a second, not all the time.
func TestLockedTickHoldsUpNoOtherThatIsLate(t *testing.T) {
	f := newPostgresFixture(t)
	f.promised("locked", 2*time.Hour, 0)
	f.promised("other", 2*time.Hour, 0)
	f.exec("UPDATE periodic_tick SET finish = NULL, finish_look = decided")
	tx, err := f.SQL.Begin()
	if err != nil {
		f.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec("SELECT 1 FROM periodic_tick WHERE task_id = 'locked' FOR UPDATE"); err != nil {
		f.Fatal(err)
	}
	hooks := &endHooks{}
	_, next, err := f.db.Periodic().Finishes(f.Context(), hooks)
	if err != nil || len(hooks.told) != 1 || next < 100*time.Millisecond {
		f.Errorf("told %q, next in %s, %v", hooks.told, next, err)
	}
}

// A scheduler that runs tells without anybody's help, when the time has come.
func TestASchedulerTellsThatATickIsLate(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, finish_by) VALUES ('slow', 'slow', 'yearly', '2s')")
		var seen *events
		stop := f.run(f.db.Periodic(), func(c *scheduler.Config) { c.PollInterval, seen = 24*time.Hour, watch(c) })
		defer stop()
		f.due("slow", 0)
		seen.until(f, "finish", func(e scheduler.Event) bool { return e.Kind == scheduler.EventFinish && e.Finish == "late" })
		f.want("late", finishOf, "slow")
	})
}
