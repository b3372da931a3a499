package lifecycle_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/ops/lifecycle"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// parts are the services of a database.
func parts(t *testing.T, db *store.DB, log *slog.Logger) map[string]lifecycle.Service {
	t.Helper()
	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "test", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	executor, err := executor.New(db.Jobs(), executor.Config{Name: "test", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	executor.Register("none", func(context.Context, *jobqueue.JobContext) error { return nil })
	publish := outbox.PublisherFunc(func(_ context.Context, events []outbox.Event) (int, error) { return len(events), nil })
	relay, err := relay.New(db.Outbox(), publish, relay.Config{Name: "test", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]lifecycle.Service{"scheduler": scheduler, "executor": executor, "relay": relay}
}

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// A part whose first statement has no answer yet does not count as started.
func TestStartWaitsForTheFirstAnswer(t *testing.T) {
	t.Parallel()
	for part, table := range map[string]string{"scheduler": "periodic_task", "executor": "job_limit", "relay": "outbox_message"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			d := migrated.New(t, storetest.Postgres)
			db, err := store.Open(t.Context(), d.URL, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			d.Exec("INSERT INTO job (jid, task) VALUES ('waits', 'none')")
			d.Hold("LOCK TABLE " + table)
			p, err := lifecycle.New(lifecycle.Config{})
			if err != nil {
				t.Fatal(err)
			}
			p.Add(lifecycle.Database(db))
			p.AddService(part, parts(t, db, silent())[part])
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var stage *lifecycle.StageError
			if err := p.Start(ctx); !errors.As(err, &stage) || stage.Stage != part {
				t.Errorf("start while %s is locked = %v, want a failure of stage %s", table, err, part)
			}
		})
	}
}

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }
