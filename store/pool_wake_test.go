package store_test

import (
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// On a pool of the program's own, nobody listens to the database. Scheduler and executor
// of the program wake each other all the same: jobs begin when they are submitted, and
// ticks that wait for them go when they end.
func TestNewWakesWithinTheProcess(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		db := newOn(t, d)
		if _, err := migrations.Of(db).Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		silent := slog.New(slog.DiscardHandler)
		const never = time.Hour // no poll helps
		scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "s", PollInterval: never, Logger: silent})
		if err != nil {
			t.Fatal(err)
		}
		executor, err := executor.New(db.Jobs(), executor.Config{Name: "e", PollInterval: never, Logger: silent})
		if err != nil {
			t.Fatal(err)
		}
		ran := make(chan struct{}, 100)
		goOn := make(chan struct{})
		executor.Register("note", func(ctx context.Context, _ *jobqueue.JobContext) error {
			ran <- struct{}{}
			select {
			case <-goOn:
			case <-ctx.Done():
			}
			return nil
		})
		for _, service := range []interface {
			Start(context.Context) error
			Stop(context.Context) error
		}{executor, scheduler} {
			if err := service.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = service.Stop(context.WithoutCancel(t.Context())) })
		}
		tasks := periodic.NewTasks(db.Tasks())
		task := periodic.NewTask("byhand", "note", "2099-01-01")
		task.Overlap = periodic.OverlapQueue
		mustAdd(t, tasks, task)
		if err := tasks.RunNow(t.Context(), "byhand"); err != nil { // wakes the executor
			t.Fatal(err)
		}
		<-ran
		if err := tasks.SubmitNext(t.Context(), "byhand", time.Now(), "waits for the end of that"); err != nil {
			t.Fatal(err)
		}
		close(goOn) // the executor wakes the scheduler, which wakes the executor
		<-ran
		if _, err := jobqueue.NewQueue(db.Jobs()).Submit(t.Context(), jobqueue.Job{Task: "note"}); err != nil {
			t.Fatal(err)
		}
		<-ran
	})
}

// newOn is the database of a pool of the program's own.
func newOn(t *testing.T, d *storetest.Database) *store.DB {
	t.Helper()
	var app *sql.DB
	if d.Kind == storetest.Postgres {
		app = pool(t, "postgres", d.URL)
	} else {
		app = sqlitePool(t, strings.TrimPrefix(d.URL, "sqlite:"), "_journal_mode=WAL&_foreign_keys=on&_busy_timeout=5000&_txlock=immediate")
	}
	db, err := store.New(t.Context(), app, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, db) })
	return db
}
