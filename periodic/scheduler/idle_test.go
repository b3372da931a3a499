package scheduler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// bubble runs a test with fake time over a real SQLite database, whose clock is
// the host's.
func bubble(t *testing.T, test func(f *fixture)) {
	t.Helper()
	t.Parallel()
	url := migrated.New(t, storetest.SQLite).URL
	synctest.Test(t, func(t *testing.T) { test(newFixture(migrated.Open(storetest.At(t, url)))) })
}

// unwatched is a store that reports no changes: it spares a test that fakes hours a
// look for changes four times a second.
type unwatched struct{ scheduler.Store }

func (unwatched) Watch(ctx context.Context, _ string, _ func(), _ func(error)) {
	<-ctx.Done()
}

// midnight is when the clock of a bubble starts.
var midnight = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// sleepUntil sleeps until a time of the bubble's clock.
func sleepUntil(at time.Time) { pass(time.Until(at)); synctest.Wait() }

// pass lets fake time pass.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // in a bubble of synctest it takes no time

// An idle scheduler looks at the database once in a poll interval.
func TestG8IdleIsQuiet(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.exec(insertTask, "report", "2090-01-01")
		h := &hooked{Store: f.db.Periodic()}
		s, _ := f.start(h, polls)
		pass(75 * time.Second) // fake: planned, every wake-up of it over, and halfway between two looks
		peeks, updates := h.peeks.Load(), h.updates.Load()
		pass(10 * time.Minute)
		// On SQLite the scheduler's own beat is a change that wakes it.
		if got := h.peeks.Load() - peeks; got < 20 || got > 41 {
			f.Errorf("%d looks in ten idle minutes with a poll interval of 30 s, and a beat each 30 s", got)
		}
		if got := h.updates.Load() - updates; got != 0 {
			f.Errorf("%d transactions in ten idle minutes", got)
		}
		f.stop(s)
	})
}

// It wakes at the next nextrun, not at a poll, and works for each tick once.
func TestG8WakesWhenDue(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', '*:07:13', 'allow')")
		var late []time.Duration
		s, _ := f.start(unwatched{f.db.Periodic()}, func(c *scheduler.Config) {
			c.Observe = func(e scheduler.Event) {
				if e.Kind == scheduler.EventTick {
					late = append(late, e.Tick.Decided.Sub(e.Tick.Due))
				}
			}
		})
		pass(6 * time.Hour)
		f.stop(s)
		if len(late) != 6 {
			f.Fatalf("%d ticks in 6 hours of an hourly task", len(late))
		}
		for _, d := range late {
			if d < 0 || d > 2*time.Millisecond {
				f.Errorf("a tick was decided %s after its due", d)
			}
		}
	})
}

// While another scheduler writes the ticks that this one has planned, it looks for what is left only after a while.
func TestWhoComesTooLateWaits(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer) VALUES ('planned', 'backup', '*:01:13')")
		h := &hooked{Store: unwatched{f.db.Periodic()}, beforeUpdate: func(n int64) error {
			if n == nthTake+1 { // that of the plan: marks were cleared, and the task planned
				f.exec("UPDATE periodic_task SET nextrun = ?", f.at(time.Hour))
				f.exec("INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('left', 'backup', 'yearly', ?)", f.at(0))
			}
			return nil
		}}
		s, seen := f.start(h, polls)
		e := seen.until(f, "what is left", submitted("left"))
		f.stop(s)
		if late := e.Tick.Decided.Sub(e.Tick.Due); late < 200*time.Millisecond || late > 300*time.Millisecond {
			f.Errorf("what the other leaves is taken after %s, want 250 ms", late)
		}
	})
}

// A mark of a dead scheduler is waited for, and taken when the lease ends.
func TestG8WakesWhenAMarkExpires(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.due("report", time.Second)
		f.exec("UPDATE periodic_task SET worker = 'dead/abc/1', marked = ?", f.at(0))
		begun := time.Now()
		var taken time.Duration
		s, _ := f.start(&hooked{Store: f.db.Periodic()}, func(c *scheduler.Config) {
			c.Observe = func(e scheduler.Event) {
				if e.Kind == scheduler.EventTick {
					taken = time.Since(begun)
				}
			}
		})
		pass(time.Minute)
		f.stop(s)
		if taken < 30*time.Second || taken > 31*time.Second {
			f.Errorf("taken over after %s, the lease is 30 s", taken)
		}
	})
}

// A change is noticed without a poll: on SQLite within the interval at which
// data_version is asked for.
func TestG7ChangeIsNoticed(t *testing.T) {
	bubble(t, func(f *fixture) {
		s, _ := f.start(&hooked{Store: f.db.Periodic()})
		pass(time.Minute)
		f.exec(insertTask, "report", "yearly")
		f.exec("UPDATE periodic_task SET nextrun = ?", f.at(0))
		pass(time.Second)
		f.want(1, "SELECT count(*) FROM job")
		f.stop(s)
	})
}

// PostgreSQL notifies; a poll would take 24 hours.
func TestG7ChangeIsNotified(t *testing.T) {
	f := newPostgresFixture(t)
	_, seen := f.start(f.db.Periodic())
	f.exec(insertTask, "inserted", "yearly")
	f.exec("UPDATE periodic_task SET nextrun = now() AT TIME ZONE 'UTC' WHERE id = 'inserted'")
	seen.until(t, "job", submitted("inserted"))
	f.exec("UPDATE job SET state = 'success'")
	f.exec("UPDATE periodic_task SET nextrun = now() AT TIME ZONE 'UTC' WHERE id = 'inserted'")
	seen.until(t, "second job", nth(2, submitted("inserted")))
}
