package executor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/network"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
)

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
