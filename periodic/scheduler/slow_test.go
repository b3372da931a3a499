package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// A row that the database takes long to write is named, though it does not fail, and delays its batch by its own time
// only: batches get smaller, so most of those that fall due with it do not wait for it, and none is lost.
func TestG5SlowRowDelaysItsBatchOnly(t *testing.T) {
	both(t, func(f *fixture) {
		const others = 99
		f.Trigger("job", "INSERT", "NEW.tracker = 'slow'", "PERFORM pg_sleep(0.8); RETURN NEW",
			"SELECT max(x) FROM (WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 8000000) SELECT x FROM c)")
		for i := range others {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES (?, 'backup', 'every 1s', 'allow')", fmt.Sprintf("good-%02d", i))
		}
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('slow', 'backup', 'every 1s', 'allow')")
		s, seen := f.start(f.db.Periodic())
		seen.until(f, "name of a slow batch", func(e scheduler.Event) bool { return e.Kind == scheduler.EventSlow && e.Took > 500*time.Millisecond })
		small, ticks := false, 0
		seen.until(f, "ticks of the slow task in small batches", func(e scheduler.Event) bool {
			small = small || e.Kind == scheduler.EventBatch && e.Took > 500*time.Millisecond && e.Count <= others/4
			if small && e.Kind == scheduler.EventTick && e.Tick.TaskID == "slow" {
				ticks++
			}
			return ticks == 3
		})
		f.stop(s)
		f.guarantees()
	})
}

// distant is a database at the end of a slow line: an answer that was read is old.
type distant struct{ scheduler.Store }

func (d distant) Read(ctx context.Context, fn func(batch.Tx) error) error {
	err := d.Store.Read(ctx, fn)
	elapse(2100 * time.Millisecond)
	return err
}

// Where reading takes longer than a plan lasts otherwise, ticks are late, and none waits for better times.
func TestG6SlowDatabaseDelaysTicksAndHoldsNoneUp(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('a', 'echo', 'every 1s', 'allow')")
		s, seen := f.start(distant{f.db.Periodic()})
		for range 2 {
			seen.until(f, "a batch", func(e scheduler.Event) bool { return e.Kind == scheduler.EventBatch && e.Ticks > 0 })
		}
		f.stop(s)
		f.guarantees()
	})
}
