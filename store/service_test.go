package store_test

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// An executor publishes what it can do, and nothing is left of it when it has stopped.
func TestServices(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		log := logrus.New()
		log.SetOutput(io.Discard)
		e, err := executor.New(d.Store.Jobs(), executor.Config{Name: "first", PoolSize: 3, Groups: []string{"b", "a"}, RetryLimit: 2, Logger: log})
		if err != nil {
			t.Fatal(err)
		}
		e.Register("plain", func(context.Context, *jobqueue.JobContext) error { return nil })
		e.Register("one", func(context.Context, *jobqueue.JobContext) error { return nil }, jobqueue.WithLimits(jobqueue.Limits{RetryLimit: executor.Never}))
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		storetest.Eventually(t, "the executor publishes what it does", func() bool {
			return d.One("SELECT count(*) FROM worker WHERE id LIKE 'first@%'") == "1"
		})
		if got := d.One("SELECT kind || places || only_groups || handlers FROM worker"); got !=
			`executor3["a","b"][{"name":"one","attempts":1},{"name":"plain","attempts":3}]` {
			t.Errorf("it publishes %s", got)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := e.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		d.Want(0, "SELECT count(*) FROM worker")
	})
}

// Housekeeping deletes the rows of workers that were killed, but of those that still have jobs.
func TestHousekeepingForgetsDeadWorkers(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		const old, young = "'2026-01-01 00:00:00.000000'", "'2999-01-01 00:00:00.000000'"
		for id, seen := range map[string]string{"killed@000000000001": old, "busy@000000000002": old, "lives@000000000003": young} {
			d.Exec("INSERT INTO worker (id, kind, version, started, seen) VALUES ('" + id + "', 'executor', 'v', " + old + ", " + seen + ")")
		}
		d.Exec("INSERT INTO job (jid, task, state, worker) VALUES ('left', 't', 'running', 'busy@000000000002')")
		if _, err := d.Store.Periodic().Prune(t.Context(), scheduler.Retention{}); err != nil {
			t.Fatal(err)
		}
		d.Want("busy@000000000002 lives@000000000003", "SELECT min(id) || ' ' || max(id) FROM worker")
	})
}

// On SQLite those who watch keep connections of their own: with few of them, a
// leader that watched both its lock and the tasks could not read any more.
func TestWatchersLeaveConnectionsToOthers(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), storetest.SQLiteURL(t), store.Options{Create: true, MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, db)
	if _, err := migrations.Of(db).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	for _, watch := range []func(wake func(), report func(error)){
		func(wake func(), report func(error)) { db.Periodic().Locks().Watch(ctx, "", wake, report) },
		func(wake func(), report func(error)) { db.Periodic().Watch(ctx, "", wake, report) },
	} {
		woken := make(chan struct{}, 1000)
		watching.Go(func() { watch(func() { woken <- struct{}{} }, func(error) {}) })
		select {
		case <-woken: // it has its connection
		case <-time.After(storetest.Patience):
			t.Fatal("a watcher waits for a connection")
		}
	}
	soon, over := context.WithTimeout(t.Context(), storetest.Patience)
	defer over()
	if _, err := db.Periodic().Locks().Inspect(soon, "l"); err != nil {
		t.Errorf("Inspect while two watch: %v", err)
	}
}
