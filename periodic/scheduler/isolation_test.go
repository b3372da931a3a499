package scheduler_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// G5: one row never holds up another.

func TestG5BadTimerDelaysNobody(t *testing.T) {
	both(t, func(f *fixture) {
		for id, timer := range map[string]string{
			"empty": "", "nonsense": "when it rains", "zone": "daily Europe/Atlantis", "long": strings.Repeat("9", 254),
		} {
			f.exec(insertTask, id, timer)
			f.behind(id, time.Hour, time.Second)
		}
		f.exec(insertTask, "good", "yearly")
		f.due("good", time.Second)
		f.once()
		f.want(1, "SELECT count(*) FROM job")
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'good'")
		f.want(4, "SELECT count(*) FROM periodic_task WHERE problem IS NOT NULL AND due = ?", utc(periodic.Never))
		if problem := f.one("SELECT problem FROM periodic_task WHERE id = 'zone'"); !strings.Contains(problem, "Europe/Atlantis") {
			f.Errorf("the problem does not name the zone: %q", problem)
		}
		f.exec("UPDATE periodic_task SET timer = 'daily' WHERE id = 'nonsense'")
		f.once()
		f.want("", "SELECT problem FROM periodic_task WHERE id = 'nonsense'")
	})
}

func TestG5RunningPredecessor(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "slow", "yearly")
		f.exec(insertTask, "quick", "yearly")
		f.due("slow", 2*time.Second)
		f.due("quick", 2*time.Second)
		f.once()
		f.exec("UPDATE job SET state = 'success' WHERE tracker = 'quick'")
		f.exec("UPDATE job SET state = 'running', submitted = ?, started = ? WHERE tracker = 'slow'", f.at(-192*time.Minute), f.at(-time.Minute))
		f.due("slow", time.Second)
		f.due("quick", time.Second)
		f.once()
		f.want(2, "SELECT count(*) FROM job WHERE tracker = 'quick'")
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'slow'")
		f.want("overlap", "SELECT cause FROM periodic_tick WHERE decision = 'skipped'")
	})
}

// A transaction left open on one task holds up no other; that task follows when
// it ends. On SQLite an open write transaction blocks every writer.
func TestG5OpenTransactionOnOneTask(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec(insertTask, "locked", "yearly")
	f.exec(insertTask, "free", "yearly")
	due := f.due("locked", time.Second)
	f.due("free", time.Second)
	open := f.open("SELECT * FROM periodic_task WHERE id = 'locked' FOR UPDATE")
	cfg := f.config("free")
	seen := watch(&cfg)
	f.start(cfg)
	seen.until(t, "job", submitted("free"))
	f.want(0, "SELECT count(*) FROM job WHERE tracker = 'locked'")
	if err := open.Rollback(); err != nil {
		t.Fatal(err)
	}
	seen.until(t, "job", submitted("locked"))
	f.want(1, "SELECT count(*) FROM job WHERE tracker = 'locked' AND due = ?", utc(due))
}

// A mark that has expired on a row that somebody has locked: it is tried again
// now and then, not all the time, and holds up nobody.
func TestG5ExpiredMarkOnALockedRow(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec(insertTask, "locked", "yearly")
	f.exec(insertTask, "free", "yearly")
	f.due("locked", time.Second)
	f.exec("UPDATE periodic_task SET worker = 'dead/abc/1', marked = ? WHERE id = 'locked'", f.at(-time.Minute))
	open := f.open("SELECT * FROM periodic_task WHERE id = 'locked' FOR UPDATE")
	f.due("free", time.Second)
	h := &hooked{Store: f.db.Periodic()}
	var seen *events
	stop := f.run(h, func(c *scheduler.Config) { seen = watch(c) })
	defer stop()
	seen.until(t, "job", submitted("free"))
	before := h.peeks.Load()
	elapse(time.Second)
	if n := h.peeks.Load() - before; n > 10 {
		t.Errorf("%d looks at the database in a second", n)
	}
	if err := open.Rollback(); err != nil {
		t.Fatal(err)
	}
	seen.until(t, "job", submitted("locked"))
}

// Many unplanned rows do not hold up a due one.
func TestG5DueBeforeUnplanned(t *testing.T) {
	both(t, func(f *fixture) {
		for _, id := range []string{"n1", "n2", "n3", "n4", "n5"} {
			f.exec(insertTask, id, "yearly")
		}
		f.exec(insertTask, "due", "yearly")
		f.due("due", time.Second)
		order := &readOrder{Store: f.db.Periodic()}
		cfg := f.config("due first")
		cfg.BatchSize = 2
		s, err := scheduler.New(order, cfg)
		if err != nil {
			f.Fatal(err)
		}
		if err := s.RunOnce(f.Context()); err != nil {
			f.Fatal(err)
		}
		if len(order.ids) != 6 || !slices.Contains(order.ids[:2], "due") {
			f.Errorf("the tasks were read in the order %v", order.ids)
		}
		f.want(0, "SELECT count(*) FROM periodic_task WHERE due IS NULL")
	})
}

// readOrder notes in which order tasks are read.
type readOrder struct {
	scheduler.Store
	ids []string
}

func (o *readOrder) Read(ctx context.Context, fn func(batch.Tx) error) error {
	return o.Store.Read(ctx, func(tx batch.Tx) error { return fn(readOrderTx{tx, o}) })
}

type readOrderTx struct {
	batch.Tx
	o *readOrder
}

func (tx readOrderTx) Tasks(ctx context.Context, w batch.Wanted) ([]periodic.Task, error) {
	tasks, err := tx.Tx.Tasks(ctx, w)
	for _, t := range tasks {
		tx.o.ids = append(tx.o.ids, t.ID)
	}
	return tasks, err
}
