package executor_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/network"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
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
	other := newFixture(migrated.Up(storetest.At(t, server.URL()))) // none of its connections is one that was cut
	e.awaitEnd(other.submit(jobqueue.Job{Task: "short"})[0], jobqueue.Success)
	if len(runs) != 2 || e.count(kind(executor.EventLost)) != 0 {
		t.Errorf("%d runs of 2 jobs", len(runs))
	}
}

// A clock that leaps, as after a pause of the machine, has nobody look dead: only beats count.
func TestClockThatLeapsCostsNoJobInHand(t *testing.T) {
	t.Parallel()
	q := newFixture(migrated.New(t, storetest.SQLite))
	var ahead atomic.Int64
	db, err := store.Open(q.ctx, q.URL, store.Options{Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	began, release := make(chan string, 10), make(chan struct{})
	e := q.executorOn(db.Jobs(), executor.Config{PollInterval: 10 * time.Millisecond}, map[string]jobqueue.Handler{
		"long": func(ctx context.Context, job *jobqueue.JobContext) error {
			began <- job.JID
			<-release
			return ctx.Err()
		},
	}).hastened().start()
	jid := q.submit(jobqueue.Job{Task: "long"})[0]
	receive(q, began, "the handler")
	ahead.Store(int64(time.Hour))
	dead := q.claimed() // by another worker
	e.await(1, "of an interruption", func(event executor.Event) bool {
		return event.Kind == executor.EventInterrupted && event.Job.JID == dead
	})
	close(release)
	e.awaitEnd(jid, jobqueue.Success)
	if n := e.count(kind(executor.EventInterrupted)); n != 1 || q.get(jid).Interrupts != 0 {
		t.Errorf("%d jobs rescued, want that of the other worker", n)
	}
}

// A network that swallows all, without a word, ends no handler. Neither the executor nor the end of it waits for
// the network, also if it falls silent as the executor begins to listen for changes.
func TestExecutorSurvivesASilentNetwork(t *testing.T) {
	for name, last := range map[string]string{"while a job runs": "", "as it begins": "LISTEN"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newFixture(migrated.New(t, storetest.Postgres))
			n := network.New(t, q.URL)
			if last != "" {
				n.FallSilentAt(last)
			}
			far, err := store.Open(q.ctx, n.URL, store.Options{StatementTimeout: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = far.Close() })
			began, cause := make(chan string, 10), make(chan error, 10)
			e := q.executorOn(far.Jobs(), executor.Config{}, map[string]jobqueue.Handler{
				"t": func(ctx context.Context, job *jobqueue.JobContext) error {
					began <- job.JID
					<-ctx.Done()
					cause <- context.Cause(ctx)
					return ctx.Err()
				},
			})
			if err := e.Start(context.WithoutCancel(q.ctx)); err != nil {
				t.Fatal(err)
			}
			if last == "" {
				q.submit(jobqueue.Job{Task: "t"})
				receive(q, began, "the job")
				n.FallSilent()
				e.await(1, "of trouble", kind(executor.EventTrouble))
			}
			receive(q, n.Silent, "silence")
			impatient, cancel := context.WithCancel(q.ctx)
			cancel()
			stopped := make(chan error, 1)
			go func() { stopped <- e.Stop(impatient) }()
			_ = receive(q, stopped, "the end of Stop")
			if last == "" {
				if err := receive(q, cause, "the end of the context"); !errors.Is(err, jobqueue.ErrShutdown) {
					t.Errorf("cause: %v", err)
				}
			}
		})
	}
}
