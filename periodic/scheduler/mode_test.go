package scheduler_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// opened opens the database again with other options.
func (f *fixture) opened(options store.Options) *store.DB {
	f.Helper()
	db, err := store.Open(f.Context(), f.URL, options)
	f.done(err)
	f.Cleanup(func() { _ = db.Close() })
	return db
}

// quick opens it with timeouts that allow for a short TTL.
func (f *fixture) quick() *store.DB {
	f.Helper()
	return f.opened(store.Options{StatementTimeout: time.Second, IdleTimeout: time.Second})
}

// as gives a scheduler a name and a mode.
func as(name string, mode scheduler.Mode) func(*scheduler.Config) {
	return func(c *scheduler.Config) { c.Name, c.Mode = name, mode }
}

// runNow has a task run now, as a user would, and returns the tick's due.
func (f *fixture) runNow(id string) string {
	f.Helper()
	due := f.at(-time.Second)
	f.exec("UPDATE periodic_task SET nextrun = ? WHERE id = ?", due, id)
	return due
}

// shortTTL is for tests in which somebody waits for the lock to expire.
func shortTTL(c *scheduler.Config) {
	c.Lock.TTL, c.Lock.Heartbeat = 3*time.Second, 300*time.Millisecond
}

func kindOf(k scheduler.EventKind) func(scheduler.Event) bool {
	return func(e scheduler.Event) bool { return e.Kind == k }
}

// steal puts another holder into the lock's row, as if it had expired.
const steal = `UPDATE scheduler_lock SET holder = 'thief', token = token + 1`

func TestLeaderSchedulesAndFollowerTakesOver(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "t", "yearly")
		a, toldA := f.start(f.db.Periodic(), as("a", scheduler.ModeLeader))
		toldA.until(f, "leadership of a", kindOf(scheduler.EventLeading))
		b, toldB := f.start(f.db.Periodic(), as("b", scheduler.ModeLeader))
		toldB.until(f, "standby of b", kindOf(scheduler.EventStandby))
		if a, b := a.Status(), b.Status(); !a.Schedule || b.Schedule || !strings.HasPrefix(b.Lock.Holder, "a@") {
			f.Errorf("standings: %+v and %+v, want that a schedules and b knows", a, b)
		}
		due := f.runNow("t")
		toldA.until(f, "tick by a", kindOf(scheduler.EventTick))
		f.stop(a)
		toldB.until(f, "leadership of b", kindOf(scheduler.EventLeading))
		f.runNow("t")
		toldB.until(f, "tick by b", kindOf(scheduler.EventTick))
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE worker LIKE 'a@%' AND due = ?", due)
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE worker LIKE 'b@%'")
		f.guarantees()
	})
}

func TestExclusiveEndsWhenItsLockIsTaken(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "t", "yearly")
		a, told := f.start(f.quick().Periodic(), as("a", scheduler.ModeExclusive), shortTTL) // nothing but the loss ends its sleep
		told.until(f, "leadership", kindOf(scheduler.EventLeading))
		f.exec(steal + `, expires = '9999-01-01 00:00:00.000000', heartbeat = acquired`)
		told.until(f, "loss of the lock", kindOf(scheduler.EventLost))
		f.exec("UPDATE periodic_task SET nextrun = '2020-01-01 00:00:00.000000'")
		select {
		case <-a.Done():
		case <-time.After(storetest.Patience):
			f.Fatal("the scheduler goes on")
		}
		var held *leader.HeldError
		if err := a.Err(); !errors.As(err, &held) || held.Lock.Holder != "thief" {
			f.Errorf("Err = %v, want a HeldError about the thief", err)
		}
		f.want(0, "SELECT count(*) FROM job")
	})
}

// The lock changes hands before the claim while the leader believes to
// have it, as it does when its process was stopped.
func TestPausedLeaderSubmitsNothing(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "t", "yearly")
		f.once()
		f.due("t", time.Second)
		h := &hooked{Store: f.db.Periodic()}
		h.beforeUpdate = func(n int64) error {
			if n == nthTake {
				f.exec(steal)
			}
			return nil
		}
		s, told := f.make(h, as("paused", scheduler.ModeLeader))
		if err := s.RunOnce(f.Context()); !errors.Is(err, leader.ErrLost) {
			f.Errorf("RunOnce = %v, want ErrLost", err)
		}
		told.until(f, "loss of the lock", kindOf(scheduler.EventLost))
		f.want(0, "SELECT count(*) FROM job")
		f.want(0, "SELECT count(*) FROM periodic_tick")
		f.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL") // left to the successor at once
		f.want("thief", "SELECT holder FROM scheduler_lock")
	})
}

// A leader whose rounds fail gives the lock to one that works.
func TestLeaderThatCannotScheduleIsReplaced(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "t", "yearly")
		broken := &hooked{Store: f.quick().Periodic(), beforeUpdate: func(int64) error { return errors.New("broken") }}
		often := func(c *scheduler.Config) { c.PollInterval = 100 * time.Millisecond }
		_, toldA := f.start(broken, as("a", scheduler.ModeLeader), shortTTL, often)
		toldA.until(f, "leadership of a", kindOf(scheduler.EventLeading))
		_, toldB := f.start(f.quick().Periodic(), as("b", scheduler.ModeLeader), shortTTL)
		toldA.until(f, "loss of the lock by a", kindOf(scheduler.EventLost))
		toldB.until(f, "leadership of b", kindOf(scheduler.EventLeading))
		f.runNow("t")
		toldB.until(f, "tick by b", kindOf(scheduler.EventTick))
	})
}

// A leader that has not the queue of a task says so before the task is due, and one that has it goes on.
func TestLeaderWithoutTheQueueOfATask(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.addAcme("t", "skip")
		knowing, told := f.start(f.db.Periodic(), as("a", scheduler.ModeLeader), withAcme(q))
		f.runNow("t")
		told.until(f, "tick by a", kindOf(scheduler.EventTick))
		f.stop(knowing)
		f.want(0, "SELECT count(*) FROM periodic_task WHERE problem IS NOT NULL")
		f.exec("UPDATE periodic_task SET nextrun = ?", f.at(time.Hour))
		unknowing, told := f.start(f.db.Periodic(), as("b", scheduler.ModeLeader))
		e := told.until(f, "problem", kindOf(scheduler.EventProblem))
		if !strings.Contains(e.Problem, "no queue of that name") || !strings.Contains(e.Problem, "nextrun lock release") {
			f.Errorf("it says %q", e.Problem)
		}
		f.stop(unknowing)
		_, told = f.start(f.db.Periodic(), as("c", scheduler.ModeLeader), withAcme(q))
		f.runNow("t")
		told.until(f, "tick by c", kindOf(scheduler.EventTick))
		f.want(0, "SELECT count(*) FROM periodic_task WHERE problem IS NOT NULL")
	})
}

func TestRunOnceInModesWithALock(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "t", "yearly")
		once := func(mode scheduler.Mode) (*events, error) {
			s, told := f.make(f.db.Periodic(), as("once", mode))
			return told, s.RunOnce(f.Context())
		}
		if _, err := once(scheduler.ModeLeader); err != nil {
			f.Fatal(err)
		}
		f.want(0, "SELECT count(*) FROM periodic_task WHERE due IS NULL")
		if _, err := once(scheduler.ModeExclusive); err != nil {
			f.Fatal(err) // the first has released it
		}
		f.exec(`INSERT INTO scheduler_lock VALUES ('scheduler', 'thief', '', 0, 1, '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000', '9999-01-01 00:00:00.000000')`)
		f.due("t", time.Second)
		told, err := once(scheduler.ModeLeader)
		if err != nil {
			f.Errorf("RunOnce while another leads: %v, want nil", err)
		}
		told.until(f, "standby", kindOf(scheduler.EventStandby))
		var held *leader.HeldError
		if _, err := once(scheduler.ModeExclusive); !errors.As(err, &held) {
			f.Errorf("RunOnce in mode exclusive while another holds the lock: %v, want a HeldError", err)
		}
		f.want(0, "SELECT count(*) FROM job")
	})
}

func TestStopAfterJoinReleases(t *testing.T) {
	both(t, func(f *fixture) {
		s, _ := f.make(f.db.Periodic(), as("a", scheduler.ModeExclusive))
		f.done(s.Join(f.Context()))
		f.want(1, "SELECT count(*) FROM scheduler_lock")
		f.stop(s)
		f.want(0, "SELECT count(*) FROM scheduler_lock")
	})
}
