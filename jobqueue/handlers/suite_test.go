package handlers_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
)

func TestMain(m *testing.M) {
	for _, name := range []string{"SECRET", "NAMED", "OPEN"} { // parallel tests cannot set variables
		_ = os.Setenv("HANDLERS_TEST_"+name, "of the process")
	}
	migrated.VerifyTestMain(m)
}

// fixture is a queue on a database of its own, and the executor of a test.
type fixture struct {
	*migrated.Database
	ctx   context.Context
	queue *jobqueue.Queue
	store store.JobStore
	ends  chan executor.Event // of attempts
}

// onBoth runs a test on a fresh database of each kind, beside others.
func onBoth(t *testing.T, test func(t *testing.T, q *fixture)) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		jobs := d.Store.Jobs()
		test(t, &fixture{
			Database: d, ctx: t.Context(), queue: jobqueue.NewQueue(jobs), store: jobs,
			ends: make(chan executor.Event, 10_000),
		})
	})
}

// run starts an executor, which is stopped with the test.
func (q *fixture) run(cfg executor.Config, handlers map[string]jobqueue.Handler) *executor.Executor {
	q.Helper()
	cfg.Name = "worker"
	cfg.Observe = func(event executor.Event) {
		if event.Kind == executor.EventEnded {
			q.ends <- event
		}
	}
	e, err := executor.New(q.store, cfg)
	if err != nil {
		q.Fatal(err)
	}
	for task, handler := range handlers {
		e.Register(task, handler)
	}
	if err := e.Start(context.WithoutCancel(q.ctx)); err != nil {
		q.Fatal(err)
	}
	q.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), storetest.Patience)
		defer cancel()
		if err := e.Stop(ctx); err != nil {
			q.Error(err)
		}
	})
	return e
}

// awaitEnd waits until an attempt of a job has ended in a state.
func (q *fixture) awaitEnd(jid string, state jobqueue.State) {
	q.Helper()
	late := time.After(storetest.Patience)
	for {
		select {
		case event := <-q.ends:
			if event.Job.JID == jid && event.State == state {
				return
			}
		case <-late:
			q.Fatalf("job %s is not %s but %s; its log is %q", jid, state, q.get(jid).State, q.log(jid))
		}
	}
}

func (q *fixture) submit(job jobqueue.Job) string {
	q.Helper()
	jids, err := q.queue.Submit(q.ctx, job)
	if err != nil {
		q.Fatal(err)
	}
	return jids[0]
}

func (q *fixture) get(jid string) jobqueue.Job {
	q.Helper()
	job, err := q.queue.Get(q.ctx, jid)
	if err != nil {
		q.Fatal(err)
	}
	return job
}

// log returns the messages of a job's log.
func (q *fixture) log(jid string) (messages []string) {
	q.Helper()
	lines, err := q.queue.Logs(q.ctx, jobqueue.LogFilter{JID: jid, Limit: 100_000})
	if err != nil {
		q.Fatal(err)
	}
	for _, line := range lines {
		messages = append(messages, line.Message)
	}
	return messages
}

// receive waits for a value.
func receive[T any](q *fixture, ch <-chan T, what string) T {
	q.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(storetest.Patience):
		q.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}
