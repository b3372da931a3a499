package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// A database may sleep only if nobody is connected to it.
func TestQuietKeepsNoConnectionOnPostgres(t *testing.T) {
	url := storetest.PostgresURL(t)
	db, err := store.Open(t.Context(), url, store.Options{Quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := migrations.Of(db).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	user := storetest.At(t, url)
	user.Exec("DELETE FROM periodic_task") // housekeeping has a due time, too
	submitted := make(chan scheduler.Event, 100)
	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "quiet", PollInterval: 24 * time.Hour, Observe: func(e scheduler.Event) {
		if e.Kind == scheduler.EventTick {
			submitted <- e
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	executor, err := executor.New(db.Jobs(), executor.Config{Name: "quiet", PollInterval: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	executor.Register("t", func(_ context.Context, _ *jobqueue.JobContext) error { return nil })
	if err := errors.Join(scheduler.Start(t.Context()), executor.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(scheduler.Stop(context.Background()), executor.Stop(context.Background())) }()
	asleep := func() {
		t.Helper()
		storetest.Eventually(t, "nobody is connected", func() bool {
			var others int
			if err := user.SQL.Get(&others, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
				t.Fatal(err)
			}
			return others == 0
		})
	}
	asleep()
	services, err := figures.Of(db).Services(t.Context())
	if err != nil || len(services) != 2 || !services[0].Quiet || !services[1].Quiet || !services[0].Lives {
		t.Errorf("who runs: %+v, %v; want two that are quiet", services, err)
	}
	user.Exec("INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('a', 't', '*-*-* *:*:*', now() AT TIME ZONE 'UTC' - interval '1 second')")
	scheduler.Wake()
	select {
	case <-submitted:
	case <-time.After(storetest.Patience):
		t.Fatal("the wake-up was not heard")
	}
	user.Exec("UPDATE periodic_task SET enabled = false")
	scheduler.Wake()
	asleep()
}
