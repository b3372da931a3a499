package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

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

// A role that may only add jobs adds them in its own transaction.
func TestSubmitAsARoleThatMayOnlyAddJobs(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	role := "adder_" + d.One("SELECT md5(current_database())")[:12]
	d.Exec("CREATE ROLE " + role + "; GRANT SELECT, INSERT ON job TO " + role)
	defer d.Exec("DROP OWNED BY " + role + "; DROP ROLE " + role)
	tx, err := d.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("SET LOCAL ROLE " + role); err != nil {
		t.Fatal(err)
	}
	if _, err := jobqueue.NewQueue(d.Store.Jobs()).In(tx).Submit(t.Context(), jobqueue.Job{Task: "x"}); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
}
