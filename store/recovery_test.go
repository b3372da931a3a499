package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// work adds, for a role, what a holder will hold.
var work = map[string]string{
	"leader":   "DELETE FROM periodic_task WHERE id = 'report'",
	"executor": "INSERT INTO job (task) VALUES ('report')",
	"relay": `INSERT INTO event_aggregate (id, version) VALUES ('a', 1);
		INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e', 'reports', 'done', 'a', 1);
		INSERT INTO outbox_message (event_id, topic) VALUES ('e', 'reports')`,
}

// heirs take over what a holder of their role has left, and say so on the channel. They are
// stopped with the test at the latest.
var heirs = map[string]func(d *migrated.Database) (taken <-chan struct{}, stop func()){
	"leader": func(d *migrated.Database) (<-chan struct{}, func()) {
		taken := make(chan struct{}, 8)
		return taken, startScheduler(d, leading("heir", func(e scheduler.Event) {
			if e.Kind == scheduler.EventLeading {
				taken <- struct{}{}
			}
		}))
	},
	"executor": func(d *migrated.Database) (<-chan struct{}, func()) {
		taken := make(chan struct{}, 8)
		e, err := executor.New(d.Store.Jobs(), executing("heir"))
		if err != nil {
			d.Fatal(err)
		}
		e.Register("report", func(context.Context, *jobqueue.JobContext) error { taken <- struct{}{}; return nil })
		if err := e.Start(context.Background()); err != nil {
			d.Fatal(err)
		}
		return taken, stopped(d, e.Stop)
	},
	"relay": func(d *migrated.Database) (<-chan struct{}, func()) {
		taken := make(chan struct{}, 8)
		r, err := relay.New(d.Store.Outbox(), outbox.PublisherFunc(func(_ context.Context, list []outbox.Event) (int, error) {
			taken <- struct{}{}
			return len(list), nil
		}), relaying("heir"))
		if err == nil {
			err = r.Start(context.Background())
		}
		if err != nil {
			d.Fatal(err)
		}
		return taken, stopped(d, r.Stop)
	},
}

func startScheduler(d *migrated.Database, cfg scheduler.Config) (stop func()) {
	d.Helper()
	s, err := scheduler.New(d.Store.Periodic(), cfg)
	if err == nil {
		err = s.Start(context.Background())
	}
	if err != nil {
		d.Fatal(err)
	}
	return stopped(d, s.Stop)
}

// stopped has a service stop with the test, and returns what does it earlier.
func stopped(d *migrated.Database, stop func(context.Context) error) func() {
	end := func() { _ = stop(context.Background()) }
	d.Cleanup(end)
	return end
}

// shown waits until others can tell that so many workers live.
func shown(d *migrated.Database, workers int) {
	d.Helper()
	until(d, "workers show that they live", func() bool {
		return livingWorkers(d, "") >= workers
	})
}

// livingWorkers counts the workers of a name that show that they live.
func livingWorkers(d *migrated.Database, name string) int {
	if d.Kind == storetest.Postgres {
		n, _ := strconv.Atoi(d.One("SELECT count(*) FROM worker_session WHERE worker LIKE ?", name+"%@%"))
		return n
	}
	files, _ := filepath.Glob(strings.TrimPrefix(d.URL, "sqlite:") + "-workers/*")
	n := 0
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if strings.HasPrefix(string(text), name) && strings.Contains(string(text), "@") {
			n++
		}
	}
	return n
}

// What a process holds that is killed, others take over although its lease lasts for an
// hour.
func TestKilledHolderIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	for role := range roles {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			migrated.Both(t, func(_ *testing.T, d *migrated.Database) {
				d.Exec(work[role])
				d.Exec("UPDATE periodic_task SET enabled = false WHERE id = 'nextrun-housekeeping'") // no scheduler plans it here
				dead := startHolder(d, d.URL, role, false)
				taken, _ := heirs[role](d)
				shown(d, 2)
				dead.kill()
				select {
				case <-taken:
				case <-after():
					d.Fatalf("nobody took over from the %s", role)
				}
				d.Verify()
			})
		})
	}
}
