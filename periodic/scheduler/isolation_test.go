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
