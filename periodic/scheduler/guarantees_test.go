package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

const insertTask = "INSERT INTO periodic_task (id, task, timer) VALUES (?, 'backup', ?)"

// Several schedulers, two of them of one name, race for the same ticks.
func TestG1AtMostOneJobPerTick(t *testing.T) {
	both(t, func(f *fixture) {
		for i := range 40 {
			f.exec(insertTask, fmt.Sprintf("task-%d", i), "yearly")
		}
		for round := range 4 {
			due := f.at(-time.Duration(4-round) * time.Minute)
			f.exec("UPDATE periodic_task SET due = ?, nextrun = ?, timer = ?, catchup = 'all'", due, due, "*"+due[4:])
			f.race("one", "two", "three", "three")
			f.exec("UPDATE job SET state = 'success'")
			f.want(40, "SELECT count(*) FROM job WHERE due = ?", due)
		}
		f.guarantees()
	})
}

// race runs schedulers of these names at the same time until nothing is due.
func (f *fixture) race(names ...string) {
	f.Helper()
	var running sync.WaitGroup
	for _, name := range names {
		running.Go(func() {
			s, _ := f.make(f.db.Periodic(), named(name), func(c *scheduler.Config) { c.BatchSize = 7 })
			if err := storetest.Insist(func() error { return s.RunOnce(f.Context()) }); err != nil {
				f.Error(err)
			}
		})
	}
	running.Wait()
}

// The same tick offered once more makes no second job, and the row says so.
func TestG1TickSetByHandTwice(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		at := f.at(-time.Second)
		for range 2 {
			f.exec("UPDATE periodic_task SET nextrun = ?", at)
			f.once()
			f.exec("UPDATE job SET state = 'success'")
		}
		f.want(1, "SELECT count(*) FROM job")
		if problem := f.one("SELECT problem FROM periodic_task"); !strings.Contains(problem, "has a tick already") {
			f.Errorf("problem is %q", problem)
		}
		f.exec("UPDATE periodic_task SET subject = 'edited'")
		f.want("", "SELECT problem FROM periodic_task")
	})
}

// Every tick of an outage is accounted for: the newest is submitted, those
// before it are one row.
func TestG2OutageIsAccountedFor(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "*:0/1")
		f.exec("UPDATE periodic_task SET due = '2026-01-01 00:00:00.000000', nextrun = '2026-01-01 00:00:00.000000'")
		f.once()
		f.want(1, "SELECT count(*) FROM job")
		f.want(-1, "SELECT missed FROM periodic_tick WHERE decision = 'missed'") // more than 10,000
		f.want(0, g2)
	})
}

// g2: ticks between the oldest recorded one and nextrun that no row accounts
// for, of a task that elapses once a minute.
const g2 = `SELECT count(*) FROM (SELECT due, until, decision FROM periodic_tick) AS k
	WHERE decision = 'missed' AND NOT EXISTS (SELECT 1 FROM periodic_tick AS n WHERE n.decision = 'submitted' AND n.due > k.until)`

// A scheduler that dies before the commit leaves nothing behind: another one takes over at
// once, whatever the lease.
func TestG2DeadSchedulerIsTakenOver(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.due("report", time.Second)
		f.die()
		f.want(0, "SELECT count(*) FROM job")
		f.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")

		_, seen := f.start(f.db.Periodic(), func(c *scheduler.Config) { c.Lease = time.Hour })
		seen.until(f, "job", submitted("report"))
		f.want(1, "SELECT count(*) FROM job")
		f.guarantees()
	})
}

func submitted(id string) func(scheduler.Event) bool {
	return func(e scheduler.Event) bool {
		return e.Kind == scheduler.EventTick && e.Tick.Decision == periodic.Submitted && e.Tick.TaskID == id
	}
}

var errDead = fmt.Errorf("the process is dead: %w", context.DeadlineExceeded)

// die runs a scheduler that stops for good after it has written its first batch, before the commit.
func (f *fixture) die() {
	f.Helper()
	var dead atomic.Bool
	h := &hooked{Store: f.db.Periodic(), afterAdvance: func() error { dead.Store(true); return errDead }, beforeUpdate: func(int64) error {
		if dead.Load() {
			return errDead
		}
		return nil
	}}
	s, _ := f.make(h)
	if err := s.RunOnce(f.Context()); !errors.Is(err, errDead) {
		f.Fatalf("RunOnce returned %v", err)
	}
}

// A second single job of a task is refused by the table, not only by the loop.
func TestG3SecondPendingJobIsRefused(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.due("report", time.Minute)
		f.once()
		for _, state := range []string{"waiting", "scheduled", "running", "stuck"} {
			f.exec("UPDATE job SET state = ?", state)
			due := f.due("report", time.Second)
			f.once()
			f.want(1, "SELECT count(*) FROM job")
			f.want("skipped", "SELECT decision FROM periodic_tick WHERE due = ?", utc(due))
			if _, err := f.SQL.Exec(`INSERT INTO job (jid, task, tracker, single) VALUES ('second', 'backup', 'report', true)`); err == nil {
				f.Errorf("a second single job was accepted beside a %s one", state)
			}
		}
		for _, state := range []string{"success", "failed", "cancelled"} {
			f.exec("UPDATE job SET state = ?", state)
			due := f.due("report", time.Second)
			f.once()
			f.want("submitted", "SELECT decision FROM periodic_tick WHERE due = ?", utc(due))
			f.exec("DELETE FROM job WHERE due = ?", utc(due))
		}
		f.guarantees()
	})
}

// Somebody submits a job of the task after the scheduler has looked: the table
// refuses the scheduler's, and the tick says so.
func TestG3JobSubmittedMeanwhile(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.exec(insertTask, "other", "yearly")
		due := f.due("report", time.Second)
		f.due("other", time.Second)
		f.between(func() {
			f.exec(`INSERT INTO job (jid, task, tracker, single) VALUES ('theirs', 'backup', 'report', true)`)
		})
		f.want("skipped", "SELECT decision FROM periodic_tick WHERE task_id = 'report' AND due = ?", utc(due))
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'report'")
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'other'")
		f.guarantees()
	})
}

// between acts after a scheduler has read the due tasks and decided, and before it writes that.
func (f *fixture) between(act func()) {
	f.Helper()
	behind := atomic.Int64{}
	behind.Store(int64(time.Hour))
	clock := func() time.Time { return time.Now().Add(-time.Duration(behind.Load())) }
	db := f.opened(store.Options{Clock: clock})
	c := batch.New("between@1", db.Periodic().Update, db.Periodic().Read, db.Periodic().Queues(nil))
	b, err := c.Read(f.Context(), batch.Wanted{Limit: 100, Ahead: time.Hour})
	f.done(err)
	act()
	behind.Store(0)
	b.Plans = slices.DeleteFunc(b.Plans, func(p periodic.Plan) bool { return !p.MayBeMadeAhead() })
	if len(b.Plans) > 0 {
		if _, err := c.Submit(f.Context(), storetest.Patience, b); err != nil {
			f.Fatal(err)
		}
	}
	f.once()
}

// The loop outlives every error, and works on when they end.
func TestG6LoopOutlivesErrors(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.due("report", time.Second)
		h := &hooked{Store: f.db.Periodic(), beforeUpdate: func(n int64) error {
			if n <= 5 {
				return fmt.Errorf("failure %d", n)
			}
			return nil
		}}
		s, seen := f.start(h)
		seen.until(f, "failure", func(e scheduler.Event) bool {
			return e.Kind == scheduler.EventError && strings.Contains(e.Err.Error(), "failure 5")
		})
		seen.until(f, "job", submitted("report"))
		f.stop(s)
		f.want(1, "SELECT count(*) FROM job")
		f.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
	})
}

// A successor is computed from its tick, however late that was decided.
func TestG9NoDrift(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer) VALUES ('report', 'backup', 'every 7m from 2026-01-01T00:00:03Z')")
		f.once()
		start, err := time.Parse(time.RFC3339, "2026-01-01T00:00:03Z")
		f.done(err)
		for range 3 {
			planned := f.one("SELECT nextrun FROM periodic_task")
			f.exec("UPDATE periodic_task SET due = ?, nextrun = ?", "2026-02-01 00:06:03.000000", "2026-02-01 00:06:03.000000")
			f.once()
			f.want(planned, "SELECT nextrun FROM periodic_task")
			for _, column := range []string{"due", "until"} {
				for _, text := range f.all("SELECT " + column + " FROM periodic_tick WHERE " + column + " IS NOT NULL") {
					if rest := text.Sub(start) % (7 * time.Minute); rest != 0 {
						f.Errorf("tick %s of %s is off by %s", column, text, rest)
					}
				}
			}
		}
	})
}

// all returns the times of a column.
func (f *fixture) all(query string) []time.Time {
	f.Helper()
	var list []time.Time
	f.done(f.SQL.Select(&list, query))
	return list
}
