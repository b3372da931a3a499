package executor_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
)

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
