package executor_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// A handler that has much to say while the database is away goes on, and what it says is written afterwards.
func TestDatabaseMayGoAndComeBack(t *testing.T) {
	t.Parallel()
	server := storetest.PostgresServer(t)
	q := newFixture(migrated.Up(storetest.At(t, server.URL())))
	const lines = 10_000 // several times what goes into one transaction
	began, release := make(chan string, 1), make(chan struct{})
	runs := make(chan string, 10)
	e := q.run(executor.Config{}, map[string]jobqueue.Handler{
		"long": func(ctx context.Context, job *jobqueue.JobContext) error {
			runs <- job.JID
			began <- job.JID
			<-release
			for i := range lines {
				job.Log(jobqueue.Info, fmt.Sprint(i))
			}
			return ctx.Err()
		},
		"short": func(_ context.Context, job *jobqueue.JobContext) error { runs <- job.JID; return nil },
	})
	long := q.submit(jobqueue.Job{Task: "long"})[0]
	receive(q, began, "the handler")
	server.Stop()
	e.Wake()
	e.await(3, "of trouble", kind(executor.EventTrouble))
	close(release) // it ends while the database is away
	server.Start()
	e.awaitEnd(long, jobqueue.Success)
	if log := q.log(long); len(log) != lines+1 || log[lines] != fmt.Sprint(lines-1) {
		t.Errorf("%d lines of log", len(log))
	}
	short := q.submit(jobqueue.Job{Task: "short"})[0]
	e.awaitEnd(short, jobqueue.Success)
	if len(runs) != 2 || e.count(kind(executor.EventLost)) != 0 {
		t.Errorf("%d runs of 2 jobs", len(runs))
	}
}
