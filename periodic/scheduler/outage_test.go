package scheduler_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// accounted is the number of seconds between the first and the last recorded
// tick of a task that elapses every second, less the ticks that rows account
// for: 0 for each task (G2).
const accounted = `SELECT coalesce(sum(abs(span - ticks)), 0) FROM (SELECT
		round(extract(epoch FROM max(coalesce(until, due)) - min(due))) + 1 AS span,
		sum(CASE WHEN decision = 'missed' THEN missed ELSE 1 END) AS ticks
	FROM periodic_tick GROUP BY task_id) AS t`

// PostgreSQL is stopped for ten seconds: every tick due meanwhile has its row,
// nothing is doubled, and the schedulers neither end nor spin.
func TestPostgresStopsForTenSeconds(t *testing.T) {
	t.Parallel()
	server := storetest.PostgresServer(t)
	f := newFixture(migrated.Up(storetest.At(t, server.URL())))
	f.exec("INSERT INTO periodic_task (id, task, timer, overlap) SELECT 'task-' || n, 'backup', '*:*:*', 'allow' FROM generate_series(1, 20) AS n")
	var failures atomic.Int64
	var shared scheduler.Config
	seen := watch(&shared) // either may take all the ticks
	log, lines := logtest.NewNullLogger()
	for _, name := range []string{"one", "two"} {
		cfg := f.config(name)
		cfg.Logger = log
		cfg.Observe = func(event scheduler.Event) {
			if event.Kind == scheduler.EventError {
				failures.Add(1)
			}
			shared.Observe(event)
		}
		s, err := scheduler.New(f.db.Periodic(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Stop(context.Background()) })
	}
	seen.until(t, "tick", func(e scheduler.Event) bool { return e.Kind == scheduler.EventTick })
	server.Stop()
	time.Sleep(10 * time.Second) //nolint:forbidigo // the server is down in real time
	server.Start()
	back := time.Now()
	seen.until(t, "tick after the outage", func(e scheduler.Event) bool {
		return e.Kind == scheduler.EventTick && e.Tick.Due.After(back.Add(2*time.Second))
	})
	f.guarantees()
	f.want(0, accounted)
	f.want(20, "SELECT count(DISTINCT task_id) FROM periodic_tick WHERE decision = 'missed'")
	said := map[string]int{}
	for _, line := range lines.AllEntries() {
		said[line.Message]++
	}
	if said["database does not work, retrying"] != 1 || said["database works again"] != 1 || said["scheduler: database work failed, retrying"] > 0 {
		t.Errorf("of one outage the log says %v", said)
	}
	if n := failures.Load(); n == 0 || n > 200 {
		t.Errorf("%d failed attempts of two schedulers in ten seconds", n)
	}
}
