package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// A scheduler that continues after its time decides as one that comes late: by deadline,
// grace and the ticks that it has missed.
func TestAheadContinuesLate(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		for _, id := range []string{"late", "old", "behind", "fine"} {
			w.task(id, "hourly", "skip")
		}
		w.exec("UPDATE periodic_task SET deadline = 60 WHERE id = 'late'")
		w.exec("UPDATE periodic_task SET catchup = 'none' WHERE id = 'old'")
		w.exec("UPDATE periodic_task SET timer = '*:*:*' WHERE id = 'behind'")
		w.behind("behind", -soonDue+time.Second, time.Second)
		for _, id := range []string{"late", "old", "fine"} {
			w.due(id, -soonDue+time.Second)
		}
		w.start(4)
		w.pass(5 * time.Minute)
		w.decided("late", periodic.Late)
		w.decided("old", periodic.Missed)
		w.decided("behind", periodic.Missed)
		w.decided("behind", periodic.Submitted)
		w.decided("fine", periodic.Submitted)
		w.want(2, "SELECT count(*) FROM job")
		w.want(0, "SELECT count(*) FROM periodic_tick WHERE decided < due")
		w.guarantees()
	})
}

// A scheduler that has prepared a task keeps it from nobody.
func TestAheadStops(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		due := w.task("report", "yearly", "skip")
		w.start(1)
		w.stop(w.scheduler)
		w.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
		w.want(0, "SELECT count(*) FROM job")
		w.step(soonDue)
		w.once()
		w.want(1, "SELECT count(*) FROM job WHERE due = ?", due)
		w.guarantees()
	})
}

// A scheduler that dies with prepared tasks costs nothing: others take them when they are due.
func TestAheadDeathCostsNothing(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		due := w.task("report", "yearly", "skip")
		w.start(1)
		dead := func(int64) error { return errDead }
		w.onUpdate.Store(&dead)
		w.stop(w.scheduler)
		w.step(soonDue)
		w.once()
		w.want(1, "SELECT count(*) FROM job WHERE due = ?", due)
		w.guarantees()
	})
}

// Two schedulers have prepared the same tasks: each tick gets one job.
func TestAheadTwoPrepareTheSame(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		for i := range 20 {
			w.task(fmt.Sprint("report-", i), "yearly", "allow")
		}
		w.start(20)
		other := &waiting{fixture: w.fixture, step: w.step, claimed: make(chan []periodic.Task, 1000)}
		other.start(20, func(c *scheduler.Config) { c.Name = "other" })
		w.pass(0)
		other.scheduler.Wake()
		storetest.Eventually(w, "all are submitted", func() bool { return w.one("SELECT count(*) FROM periodic_tick") == "20" })
		w.stop(w.scheduler)
		w.stop(other.scheduler)
		w.want(20, "SELECT count(*) FROM job")
		w.guarantees()
	})
}

// A leader whose lock was taken while its batch waited submits nothing, and gives the
// tasks back.
func TestAheadLostLockDropsTheBatch(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		w.task("report", "yearly", "skip")
		w.start(1, func(c *scheduler.Config) { c.Mode = scheduler.ModeLeader })
		w.exec(steal + `, expires = '9999-01-01 00:00:00.000000'`)
		w.pass(0)
		w.seen.until(w, "loss of the lock", kindOf(scheduler.EventLost))
		w.stop(w.scheduler)
		w.want(0, "SELECT count(*) FROM job")
		w.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
		w.want("thief", "SELECT holder FROM scheduler_lock")
	})
}

// A row that the database refuses fails alone, also if its batch waited.
func TestAheadBadRow(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		for i := range 5 {
			w.task(fmt.Sprint("good-", i), "yearly", "skip")
		}
		w.task("bad", "yearly", "skip")
		w.start(6)
		w.refuse("job", "INSERT", "NEW.tracker = 'bad'", "23514")
		w.pass(time.Second) // all are due then, and tried in one batch
		for i := range 5 {
			w.decided(fmt.Sprint("good-", i), periodic.Submitted)
		}
		w.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = 'bad'")
		w.want(5, "SELECT count(*) FROM job")
		w.guarantees()
	})
}

// A failed transaction leaves nothing behind, and the tasks are tried again.
func TestAheadFailedTransactionIsRepeated(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		due := w.task("report", "yearly", "skip")
		w.start(1)
		var failed atomic.Bool
		fail := func() error {
			if failed.Swap(true) {
				return nil
			}
			return context.DeadlineExceeded // transient
		}
		w.onAdvance.Store(&fail)
		w.pass(0)
		w.seen.until(w, "error", func(e scheduler.Event) bool { return errors.Is(e.Err, context.DeadlineExceeded) })
		w.decided("report", periodic.Submitted)
		w.want(1, "SELECT count(*) FROM job WHERE due = ?", due)
		w.guarantees()
	})
}

// A row that somebody has locked holds up no other, and is tried again.
func TestAheadLockedRow(t *testing.T) {
	f := newPostgresFixture(t)
	w := newWaiting(f)
	w.task("locked", "yearly", "skip")
	w.task("free", "yearly", "skip")
	w.start(2)
	user := w.open("SELECT * FROM periodic_task WHERE id = 'locked' FOR UPDATE")
	w.pass(0)
	w.decided("free", periodic.Submitted)
	w.want(0, "SELECT count(*) FROM job WHERE tracker = 'locked'")
	if err := user.Commit(); err != nil {
		t.Fatal(err)
	}
	w.decided("locked", periodic.Submitted)
	w.guarantees()
}

// Of many tasks that fall due together, a few are submitted first.
func TestAheadFirstJobsComeFirst(t *testing.T) {
	whileWaiting(t, func(w *waiting) {
		const tasks = 350
		w.exec("INSERT INTO periodic_task (id, task, timer) SELECT 'task-' || n, 'backup', 'yearly' FROM " + w.series(tasks))
		at := w.at(soonDue)
		w.exec("UPDATE periodic_task SET due = ?, nextrun = ?, timer = ?", at, at, "*"+at[4:])
		w.start(tasks, func(c *scheduler.Config) { c.BatchSize = 200 })
		w.pass(0)
		first := w.seen.until(w, "batch", kindOf(scheduler.EventBatch))
		if first.Count != 100 {
			w.Errorf("the first transaction submits %d tasks, want 100", first.Count)
		}
		w.seen.until(w, "the last batch", func() func(scheduler.Event) bool {
			left := tasks
			return func(e scheduler.Event) bool { left -= e.Count; return left == 0 }
		}())
		w.want(tasks, "SELECT count(*) FROM job")
		w.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
		w.guarantees()
	})
}

// RunOnce does what is due and does not wait for the future. Nor does a scheduler
// without a lead claim it.
func TestAheadNotOnceAndNotWithoutLead(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "soon", "yearly")
		f.due("soon", -storetest.Patience)
		f.once(func(c *scheduler.Config) { c.Lead = 10 * time.Second })
		f.want(0, "SELECT count(*) FROM job")
		f.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
	})
}

// Every tick of a task that elapses every second is submitted, at its time.
func TestAheadEverySecond(t *testing.T) {
	for name, lead := range map[string]time.Duration{"default": 0, "short": 10 * time.Millisecond, "long": 10 * time.Second, "off": -1} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(f *fixture) {
				f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', '*:*:*', 'allow')")
				f.once()
				var late []time.Duration
				stop := f.run(unwatched{f.db.Periodic()}, rarely, func(c *scheduler.Config) {
					c.Lead = lead
					c.Observe = func(e scheduler.Event) {
						if e.Kind == scheduler.EventTick {
							late = append(late, e.Tick.Decided.Sub(e.Tick.Due))
						}
					}
				})
				pass(time.Minute + 500*time.Millisecond)
				stop()
				if len(late) < 60 || len(late) > 61 {
					f.Fatalf("%d ticks in a minute", len(late))
				}
				for _, d := range late {
					if d < 0 || d > 2*time.Millisecond {
						f.Errorf("a tick was decided %s after its due", d)
					}
				}
				f.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
				f.guarantees()
			})
		})
	}
}
