package jobqueue_test

import (
	"context"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/storetest"
	"github.com/nextrun/nextrun/internal/storetest/migrated"
	"github.com/nextrun/nextrun/jobqueue"
)

// A transaction left open on a job holds up that job only. SQLite has no locks
// of rows.
func TestLockedRowHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	q := newFixture(migrated.New(t, storetest.Postgres))
	began, release := make(chan string, 1), make(chan struct{})
	e := q.run(jobqueue.Config{}, map[string]jobqueue.Handler{
		"held":  func(_ context.Context, job *jobqueue.JobContext) error { began <- job.JID; <-release; return nil },
		"other": nothing,
	})
	q.submit(jobqueue.Job{Task: "held"})
	held := receive(q, began, "the handler")
	waiting := q.submit(jobqueue.Job{Task: "none"})[0]
	tx, err := q.SQL.BeginTx(q.ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(q.ctx, "SELECT 1 FROM job WHERE jid IN ($1, $2) FOR UPDATE", held, waiting); err != nil {
		t.Fatal(err)
	}
	close(release)
	for range 5 {
		e.awaitEnd(q.submit(jobqueue.Job{Task: "other"})[0], jobqueue.Success)
	}
	if job := q.get(held); job.State != jobqueue.Running {
		t.Errorf("the locked job is %s", job.State)
	}
	if n := e.count(kind(jobqueue.EventTrouble)); n != 0 {
		t.Errorf("%d troubles", n)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	e.awaitEnd(held, jobqueue.Success)
}

func TestDatabaseMayGoAndComeBack(t *testing.T) {
	t.Parallel()
	server := storetest.PostgresServer(t)
	q := newFixture(migrated.Up(storetest.At(t, server.URL())))
	began, release := make(chan string, 1), make(chan struct{})
	runs := make(chan string, 10)
	e := q.run(jobqueue.Config{Lease: time.Minute}, map[string]jobqueue.Handler{
		"long": func(ctx context.Context, job *jobqueue.JobContext) error {
			runs <- job.JID
			began <- job.JID
			<-release
			return ctx.Err()
		},
		"short": func(_ context.Context, job *jobqueue.JobContext) error { runs <- job.JID; return nil },
	})
	long := q.submit(jobqueue.Job{Task: "long"})[0]
	receive(q, began, "the handler")
	server.Stop()
	e.Wake()
	e.await(3, "of trouble", kind(jobqueue.EventTrouble))
	close(release) // it ends while the database is away
	server.Start()
	e.awaitEnd(long, jobqueue.Success)
	short := q.submit(jobqueue.Job{Task: "short"})[0]
	e.awaitEnd(short, jobqueue.Success)
	if len(runs) != 2 || e.count(kind(jobqueue.EventLost)) != 0 {
		t.Errorf("%d runs of 2 jobs", len(runs))
	}
}
