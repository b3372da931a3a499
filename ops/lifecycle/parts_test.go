package lifecycle_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

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
func parts(t *testing.T, db *store.DB, log *logrus.Logger) map[string]lifecycle.Service {
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

func silent() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

// A part that cannot do its work in the database is named, and the process does not
// count as started. While a database cannot be reached later, the process is unhealthy.
func TestStartNeedsPartsThatWork(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		for part, table := range map[string]string{"scheduler": "periodic_task", "executor": "job", "relay": "outbox_message"} {
			d.Exec("ALTER TABLE " + table + " RENAME TO away")
			db, err := store.Open(t.Context(), d.URL, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			startFails(t, db, part, "without "+table)
			if db.Ping(t.Context()) == nil {
				t.Errorf("the database is open after a start that failed")
			}
			d.Exec("ALTER TABLE away RENAME TO " + table)
		}
	})
}

// startFails starts a process with one part, which must be what the start fails at.
func startFails(t *testing.T, db *store.DB, part, state string) {
	t.Helper()
	p, err := lifecycle.New(lifecycle.Config{StartTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	p.Add(lifecycle.Database(db))
	p.AddService(part, parts(t, db, silent())[part])
	var stage *lifecycle.StageError
	if err := p.Start(t.Context()); !errors.As(err, &stage) || stage.Stage != part {
		t.Errorf("start %s = %v, want a failure of stage %s", state, err, part)
	}
}

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
			locker, err := d.SQL.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = locker.Rollback() }()
			if _, err := locker.ExecContext(t.Context(), "LOCK TABLE "+table); err != nil {
				t.Fatal(err)
			}
			startFails(t, db, part, "while "+table+" is locked")
		})
	}
}

// Drift of the schema is found at the start, and a process tells of it later.
func TestSchemaIsChecked(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		db, err := store.Open(t.Context(), d.URL, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		log := silent()
		p, err := lifecycle.New(lifecycle.Config{Logger: log})
		if err != nil {
			t.Fatal(err)
		}
		p.Add(lifecycle.Database(db), lifecycle.Schema(db, false, log))
		d.Exec("ALTER TABLE job RENAME TO away")
		var stage *lifecycle.StageError
		if err := p.Start(t.Context()); !errors.As(err, &stage) || stage.Stage != lifecycle.SchemaStage {
			t.Errorf("start without the table job = %v, want a failure of stage %s", err, lifecycle.SchemaStage)
		}
	})
}
